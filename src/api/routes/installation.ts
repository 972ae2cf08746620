/** The installation, for the people who run it: nobody is called for the sake of it. */
import { heldProviders, liveProcesses } from '../../db/fleet-views.ts';
import type { ApiPorts, App } from '../ports.ts';
import { ref } from '../schemas/common.ts';
import { System } from '../schemas/installation.ts';
import { problems } from '../schemas/problem.ts';
import { FIGURES, toSystem } from '../wire/installation.ts';

export function installationRoutes(app: App, ports: ApiPorts): void {
  app.get(
    '/api/system',
    {
      schema: {
        summary: 'Version, providers, tools, MCP servers, limits, and the worker processes that live',
        operationId: 'getSystem',
        tags: ['system'],
        response: { 200: ref(System), ...problems() },
      },
    },
    async () => {
      const { database, times } = ports;
      const [processes, held] = await Promise.all([
        liveProcesses(database.db, times, Object.values(FIGURES)),
        heldProviders(database.db),
      ]);
      return toSystem(ports.about, { processes, held });
    },
  );
}
