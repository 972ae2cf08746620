/** Registers all routes, by resource. */
import type { AccessControl } from '../access/access.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { ApiPorts, App } from '../server/ports.ts';
import type { Streams } from '../response/streams.ts';
import { apiKeyRoutes } from './system/api-keys.ts';
import { regenerateRoutes } from './messages/regenerate.ts';
import { approvalRoutes } from './jobs/approvals.ts';
import { branchRoutes } from './contexts/branches.ts';
import { cancelJobsRoute } from './jobs/cancel-jobs.ts';
import { chatRoutes } from './contexts/chat.ts';
import { clearRoutes } from './contexts/clear.ts';
import { compactionRoutes } from './contexts/compactions.ts';
import { contextRoutes } from './contexts/contexts.ts';
import { eventRoutes } from './contexts/events.ts';
import { exportRoute } from './contexts/export.ts';
import { importRoute } from './contexts/import.ts';
import { forkRoute } from './contexts/fork.ts';
import { installationRoutes } from './system/installation.ts';
import { throttleRoutes } from './system/throttles.ts';
import { interruptRoutes } from './contexts/interrupt.ts';
import { jobStepRoutes } from './jobs/job-steps.ts';
import { jobRoutes } from './jobs/jobs.ts';
import { messageRoutes } from './messages/messages.ts';
import { roleRoutes } from './workers/roles.ts';
import { searchRoute } from './messages/search.ts';
import { sessionRoutes } from './system/session.ts';
import { statsHistoryRoute } from './system/stats-history.ts';
import { systemRoutes } from './system/system.ts';
import { tokenRoutes } from './system/tokens.ts';
import { toolCallRoutes } from './jobs/tool-calls.ts';
import { turnRoutes } from './messages/turns.ts';
import { workerTreeRoute } from './workers/worker-tree.ts';
import { workerRoutes } from './workers/workers.ts';

/** Parts that each application creates for itself. */
type Parts = { accessControl: AccessControl; metrics: Metrics; streams: Streams };

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
  apiKeyRoutes(app, ports, accessControl);
  tokenRoutes(app, ports, accessControl);
  sessionRoutes(app, accessControl);
  statsHistoryRoute(app, ports);
  installationRoutes(app, ports);
  throttleRoutes(app, ports);
  systemRoutes(app, ports, metrics);
}
