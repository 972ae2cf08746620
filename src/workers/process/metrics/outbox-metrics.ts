/** Metrics of the relay of outboxes, by their names in the config file. */
import type { OutboxCode } from '../../../core/submissions/outbox.ts';
import { seconds, type Instruments } from './instruments.ts';

type Backlog = { waiting: number; oldestMs: number | null; refused: number };

export type OutboxMetrics = {
  relayed(outbox: string, rows: number): void;
  refused(outbox: string, code: OutboxCode): void;
  up(outbox: string, isUp: boolean): void;
  backlog(outbox: string, backlog: Backlog): void;
};

export function createOutboxMetrics({ counter, gauge }: Instruments): OutboxMetrics {
  const relayed = counter('outbox_relayed_total', 'Rows of an outbox that became submissions.', ['outbox']);
  const refusals = counter('outbox_refused_total', 'Rows of an outbox that were refused.', ['outbox', 'code']);
  const up = gauge('outbox_up', 'Whether the last look at the outbox succeeded: 1 or 0.', ['outbox']);
  const waiting = gauge('outbox_waiting', 'Rows that wait in the outbox.', ['outbox']);
  const oldest = gauge(
    'outbox_oldest_seconds',
    'Age of the oldest row that waits in the outbox, of tenants that are not suspended.',
    ['outbox'],
  );
  const kept = gauge('outbox_refused', 'Refused rows that the outbox still has.', ['outbox']);
  return {
    relayed: (outbox, rows) => relayed.inc({ outbox }, rows),
    refused: (outbox, code) => refusals.inc({ outbox, code }),
    up: (outbox, isUp) => up.set({ outbox }, isUp ? 1 : 0),
    backlog(outbox, backlog) {
      waiting.set({ outbox }, backlog.waiting);
      oldest.set({ outbox }, seconds(backlog.oldestMs ?? 0));
      kept.set({ outbox }, backlog.refused);
    },
  };
}
