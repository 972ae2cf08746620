/** All routes, by resource. */
import type { Metrics } from '../metrics.ts';
import type { ApiPorts, App } from '../ports.ts';
import { contextRoutes } from './contexts.ts';
import { interruptRoutes } from './interrupt.ts';
import { jobRoutes } from './jobs.ts';
import { messageRoutes } from './messages.ts';
import { systemRoutes } from './system.ts';
import { workerRoutes } from './workers.ts';

export function addRoutes(app: App, ports: ApiPorts, metrics: Metrics): void {
  workerRoutes(app, ports);
  contextRoutes(app, ports);
  messageRoutes(app, ports);
  interruptRoutes(app, ports);
  jobRoutes(app, ports);
  systemRoutes(app, ports, metrics);
}
