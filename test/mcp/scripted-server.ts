// An MCP server over stdio that a test scripts: it dies, hangs, reports progress, changes its list. Started as `node
// scripted-server.ts <folder>`: it records each fact as a line in the file `facts` there. With `reorder` as the second
// argument it lists its tools in the opposite order from its second start on.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  PingRequestSchema,
  type CallToolResult,
} from '@modelcontextprotocol/sdk/types.js';

const folder = process.argv[2] ?? '.';
const note = (fact: string): void => appendFileSync(join(folder, 'facts'), `${fact}\n`);

const READS = { readOnlyHint: true };
const SAFE = { destructiveHint: false };
const AGAIN = { destructiveHint: false, idempotentHint: true };
const ANYTHING = { type: 'object' as const };

const tools = [
  {
    name: 'echo',
    annotations: READS,
    // Members that are not sorted.
    inputSchema: {
      ...ANYTHING,
      properties: {
        text: { type: 'string' },
        loud: { type: 'boolean', description: 'In capitals.' },
        again: { type: 'integer', minimum: 1, default: 1 },
      },
      required: ['text'],
    },
  },
  { name: 'env', annotations: READS, inputSchema: ANYTHING },
  { name: 'hang', annotations: READS, inputSchema: ANYTHING },
  { name: 'hang_once', annotations: SAFE, inputSchema: ANYTHING },
  { name: 'count', annotations: READS, inputSchema: ANYTHING },
  { name: 'fail', annotations: READS, inputSchema: ANYTHING },
  { name: 'refuse', annotations: READS, inputSchema: ANYTHING },
  { name: 'die_once', annotations: AGAIN, inputSchema: ANYTHING },
  { name: 'die', annotations: SAFE, inputSchema: ANYTHING },
  { name: 'die_always', annotations: AGAIN, inputSchema: ANYTHING },
  { name: 'leave_child', annotations: READS, inputSchema: ANYTHING },
  { name: 'learn', annotations: READS, inputSchema: ANYTHING },
  { name: 'secret', annotations: READS, inputSchema: ANYTHING },
  { name: 'meta', annotations: READS, inputSchema: ANYTHING },
];

const server = new Server({ name: 'scripted', version: '1' }, { capabilities: { tools: { listChanged: true } } });
const text = (body: string, isError = false): CallToolResult => ({
  content: [{ type: 'text', text: body }],
  isError,
});

server.setRequestHandler(PingRequestSchema, () => ({}));
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification, _meta }) => {
  note(`called ${params.name}`);
  switch (params.name) {
    case 'echo':
      return text(String(params.arguments?.['text']));
    case 'meta':
      return text(JSON.stringify(_meta));
    case 'env':
      return text(JSON.stringify(process.env));
    case 'fail':
      return text('it did not work', true);
    case 'refuse':
      throw new Error('no');
    case 'hang':
    case 'hang_once':
      // Both may have arrived at once: then it is cancelled before it begins.
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      note('cancelled');
      return text('');
    case 'count':
      for (let progress = 1; progress <= 4; progress += 1) {
        await setTimeout(Number(params.arguments?.['ms']));
        const progressToken = _meta?.progressToken ?? 0;
        await sendNotification({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 4 },
        });
      }
      return text('counted');
    case 'die_once':
      if (existsSync(join(folder, 'died'))) return text('lives');
      writeFileSync(join(folder, 'died'), '');
      return process.exit(1);
    case 'die':
    case 'die_always':
      return process.exit(1);
    case 'leave_child': {
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
      return text(String(child.pid));
    }
    case 'learn':
      tools.push({ name: 'learnt', annotations: READS, inputSchema: ANYTHING });
      await server.sendToolListChanged();
      return text('learnt');
    default:
      return text(`did ${params.name}`);
  }
});

if (process.argv[3] === 'reorder' && existsSync(join(folder, 'facts'))) tools.reverse();
note(`started ${process.pid}`);
process.stdout.write('this is not a message\n');
await server.connect(new StdioServerTransport());
