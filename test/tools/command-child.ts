// A process that runs a command without end in the workspace of a context, until it is killed.
import { parseId, type ContextId } from '../../src/core/ids.ts';
import { RUN_COMMAND_DEFAULTS } from '../../src/tools/built-in/command/limits.ts';
import { runCommand } from '../../src/tools/built-in/command/run-command.ts';
import { FILE_LIMITS } from '../../src/tools/built-in/files/limits.ts';
import { createWorkspaces } from '../../src/tools/built-in/files/workspaces.ts';
import { createToolRunner } from '../../src/tools/run/execute.ts';
import { createRegistry } from '../../src/tools/registry/registry.ts';
import { NO_SERVICES, call } from './invoke.ts';

const [root = '', id = ''] = process.argv.slice(2);
const contextId = parseId<ContextId>(id);
if (contextId === null) throw new Error('not an id');
const tool = runCommand({
  workspaces: createWorkspaces(root),
  limits: { ...RUN_COMMAND_DEFAULTS, runner: 'process', tenants: ['default'] },
  files: FILE_LIMITS,
  resultChars: 10_000,
  path: '/usr/bin:/bin',
  docker: {},
});
const runner = createToolRunner(createRegistry([tool]), {
  limits: { toolResult: 10_000, toolTimeoutMs: 60_000 },
});
const argv = ['sh', '-c', 'sleep 100 & echo $! > child; wait'];
await runner.execute({ ...call('run_command', { argv }), contextId }, new AbortController().signal, NO_SERVICES);
