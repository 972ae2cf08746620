/** The catalogue of tools, and what a tenant used of them. Both read a bounded number of rows. */
import { readUse } from '../../../db/calls/tool-use.ts';
import { readSentTools } from '../../../db/model-calls/tool-lists.ts';
import { liveProcesses } from '../../../db/read/installation/fleet-views.ts';
import { ref } from '../../../schema/build.ts';
import { toIso } from '../../request/instant.ts';
import { readerOf } from '../../response/reads.ts';
import { ToolList, ToolUseList, ToolUseQuery } from '../../schemas/system/tool.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { toTools, toUse } from '../../wire/system/tools.ts';

const tags = ['system'];

export function toolRoutes(app: App, ports: ApiPorts): void {
  app.get(
    '/api/tools',
    {
      config: { access: 'read_or_operator', tokens: 'none' },
      schema: {
        summary:
          'All tools: of the platform, of the config file, of MCP servers, and those that were last offered to models of the tenant',
        operationId: 'listTools',
        tags,
        response: { 200: ref(ToolList) },
      },
    },
    async ({ isOperator, scopes, tenantId }, reply) => {
      const { about, times } = ports;
      // An operator without a tenant sees nothing that a tenant sent.
      const ofTenant = scopes !== null;
      const [processes, sent] = await readerOf(
        ports,
        reply,
      )((tx, last) => Promise.all([liveProcesses(tx, times, []), ofTenant ? readSentTools(last, tenantId) : []]));
      return { data: toTools({ about, processes, sent, isOperator }) };
    },
  );
  app.get(
    '/api/tools/use',
    {
      config: { access: 'read', tokens: 'none' },
      schema: {
        summary: 'What the tenant used of each tool in the last hours: calls, failures by code, durations',
        operationId: 'getToolUse',
        tags,
        querystring: ToolUseQuery,
        response: { 200: ref(ToolUseList) },
      },
    },
    async ({ tenantId, query }, reply) => {
      const { from, tools } = await readerOf(ports, reply)((_, last) => readUse(last, tenantId, query.hours));
      return { from: toIso(from), data: tools.map(toUse) };
    },
  );
}
