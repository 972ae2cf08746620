/** The installation. Only the operator sees its worker processes and the status of providers. Calls no other host. */
import { activeThrottles, liveProcesses } from '../../../db/read/installation/fleet-views.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { ref } from '../../../schema/build.ts';
import { System } from '../../schemas/system/installation.ts';
import { FIGURES, TENANT_FIGURES } from '../../wire/system/figures.ts';
import { toSystem, withoutInstallation } from '../../wire/system/installation.ts';

export function installationRoutes(app: App, ports: ApiPorts): void {
  app.get(
    '/api/system',
    {
      config: { access: 'read_or_operator', tokens: 'none' },
      schema: {
        summary:
          'Version, providers, tools, MCP servers and limits; for the operator also the worker processes and throttles',
        operationId: 'getSystem',
        tags: ['system'],
        response: { 200: ref(System) },
      },
    },
    async ({ isOperator }) => {
      const { database, times } = ports;
      const [processes, throttles] = await Promise.all([
        liveProcesses(database.db, times, isOperator ? Object.values(FIGURES) : TENANT_FIGURES),
        activeThrottles(database.db),
      ]);
      const system = toSystem(ports.about, { processes, throttles });
      return isOperator ? system : withoutInstallation(system);
    },
  );
}
