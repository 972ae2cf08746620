/** Registers all routes, by resource. */
import type { AccessControl } from '../access.ts';
import type { Metrics } from '../metrics.ts';
import type { ApiPorts, App } from '../ports.ts';
import type { Streams } from '../streams.ts';
import { regenerateRoutes } from './regenerate.ts';
import { approvalRoutes } from './approvals.ts';
import { branchRoutes } from './branches.ts';
import { cancelJobsRoute } from './cancel-jobs.ts';
import { chatRoutes } from './chat.ts';
import { clearRoutes } from './clear.ts';
import { compactionRoutes } from './compactions.ts';
import { contextRoutes } from './contexts.ts';
import { eventRoutes } from './events.ts';
import { exportRoute } from './export.ts';
import { importRoute } from './import.ts';
import { forkRoute } from './fork.ts';
import { installationRoutes } from './installation.ts';
import { interruptRoutes } from './interrupt.ts';
import { jobStepRoutes } from './job-steps.ts';
import { jobRoutes } from './jobs.ts';
import { messageRoutes } from './messages.ts';
import { roleRoutes } from './roles.ts';
import { searchRoute } from './search.ts';
import { sessionRoutes } from './session.ts';
import { statsHistoryRoute } from './stats-history.ts';
import { systemRoutes } from './system.ts';
import { toolCallRoutes } from './tool-calls.ts';
import { toolResultRoutes } from './tool-results.ts';
import { turnRoutes } from './turns.ts';
import { workerTreeRoute } from './worker-tree.ts';
import { workerRoutes } from './workers.ts';

/** Parts that each application creates for itself. */
export type Parts = { accessControl: AccessControl; metrics: Metrics; streams: Streams };

export function addRoutes(app: App, ports: ApiPorts, { accessControl, metrics, streams }: Parts): void {
  workerRoutes(app, ports);
  workerTreeRoute(app, ports);
  contextRoutes(app, ports);
  clearRoutes(app, ports);
  messageRoutes(app, ports);
  turnRoutes(app, ports);
  regenerateRoutes(app, ports);
  branchRoutes(app, ports);
  forkRoute(app, ports);
  toolCallRoutes(app, ports);
  toolResultRoutes(app, ports);
  approvalRoutes(app, ports);
  interruptRoutes(app, ports);
  compactionRoutes(app, ports);
  cancelJobsRoute(app, ports);
  eventRoutes(app, ports, accessControl, streams);
  chatRoutes(app, ports);
  jobRoutes(app, ports);
  jobStepRoutes(app, ports);
  roleRoutes(app, ports);
  exportRoute(app, ports);
  importRoute(app, ports);
  searchRoute(app, ports);
  sessionRoutes(app, accessControl);
  statsHistoryRoute(app, ports);
  installationRoutes(app, ports);
  systemRoutes(app, ports, metrics);
}
