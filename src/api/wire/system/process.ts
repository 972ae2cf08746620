/** Converts worker processes to their API form. */
import type { ListedProcess } from '../../../db/read/installation/process-views.ts';
import { parseFigures } from '../../../core/figures.ts';
import { toIso } from '../../request/instant.ts';
import type { WorkerProcess } from '../../schemas/system/process.ts';
import { FIGURES, countOf, valuesOf } from './figures.ts';

export function toProcess(process: ListedProcess): WorkerProcess {
  const { ended } = process;
  const samples = parseFigures(process.figures).flatMap((figure) => figure.samples);
  return {
    id: process.id,
    host: process.host,
    pid: process.pid,
    version: process.version,
    status: ended?.reason ?? process.status,
    requested_status: process.requestedStatus,
    can_drain: process.canDrain,
    started_at: toIso(process.startedAt),
    heartbeat_at: toIso(process.heartbeatAt),
    ended_at: ended === null ? null : toIso(ended.at),
    running: ended === null ? process.leases : 0,
    concurrency: ended === null ? countOf(valuesOf(samples, FIGURES.slots)) : null,
    providers: process.providers,
    mcp_servers: process.mcpServers,
  };
}
