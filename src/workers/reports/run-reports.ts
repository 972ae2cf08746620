/** What the tools of one run report. Costs nothing for a call whose tool reports nothing. */
import type { ProcessId } from '../../core/ids.ts';
import type { Lease } from '../../core/run/snapshot.ts';
import type { OpenReport } from '../../core/tools/report.ts';
import type { ToolInvocation } from '../../core/tools/tool.ts';
import type { WorkerState } from '../process/ports.ts';
import type { StreamPublisher } from '../run/stream-publisher.ts';
import { CallReport } from './call-report.ts';

type Ports = Pick<WorkerState, 'clock' | 'log' | 'reports'>;
type Publisher = Pick<StreamPublisher, 'callProgress' | 'callEnded'>;

export class RunReports {
  readonly #ports: Ports;
  readonly #publisher: Publisher;
  readonly #owner: ProcessId;
  readonly #epoch: number;
  #executions = 0;
  #entries = 0;

  /** `lease`: as claimed. */
  constructor(ports: Ports, publisher: Publisher, owner: ProcessId, lease: Lease) {
    this.#ports = ports;
    this.#publisher = publisher;
    this.#owner = owner;
    this.#epoch = lease.epoch;
  }

  open(call: ToolInvocation): OpenReport {
    const { tenantId, contextId, jobId, id: toolCallId, name, attempt } = call;
    this.#executions += 1;
    const id = { tenantId, contextId, jobId, toolCallId, attempt, epoch: this.#epoch, ordinal: this.#executions };
    const { clock, log, reports } = this.#ports;
    const ids = { tool: name, tool_call_id: toolCallId, job_id: jobId, context_id: contextId };
    return new CallReport(id, {
      clock,
      nextNumber: () => (this.#entries += 1),
      store: (entry, bytes) => reports.add(entry, bytes),
      changed: (report) => reports.changed(report),
      ended: () => {
        this.#publisher.callEnded(toolCallId);
        reports.writeSoon();
      },
      publish: (progress) => {
        const frame = { owner: this.#owner, jobId, toolCallId, name, attempt, progress };
        this.#publisher.callProgress({ kind: 'progress', ...frame });
        log.debug({ ...ids, progress }, 'progress of a tool');
      },
      debug: ({ level, message, fields }) =>
        log.debug({ ...ids, level_of_tool: level, text: message, fields }, 'log entry of a tool'),
    });
  }
}
