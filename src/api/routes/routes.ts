/** All routes, by resource. */
import type { Metrics } from '../metrics.ts';
import type { ApiPorts, App } from '../ports.ts';
import type { Streams } from '../streams.ts';
import { cancelJobsRoute } from './cancel-jobs.ts';
import { contextRoutes } from './contexts.ts';
import { eventRoutes } from './events.ts';
import { interruptRoutes } from './interrupt.ts';
import { jobStepRoutes } from './job-steps.ts';
import { jobRoutes } from './jobs.ts';
import { messageRoutes } from './messages.ts';
import { roleRoutes } from './roles.ts';
import { systemRoutes } from './system.ts';
import { workerRoutes } from './workers.ts';

export function addRoutes(app: App, ports: ApiPorts, metrics: Metrics, streams: Streams): void {
  workerRoutes(app, ports);
  contextRoutes(app, ports);
  messageRoutes(app, ports);
  interruptRoutes(app, ports);
  cancelJobsRoute(app, ports);
  eventRoutes(app, ports, streams);
  jobRoutes(app, ports);
  jobStepRoutes(app, ports);
  roleRoutes(app, ports);
  systemRoutes(app, ports, metrics);
}
