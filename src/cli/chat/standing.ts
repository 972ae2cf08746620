/** What a chat knows of its context: jobs that are under way, and what waits for the person. */
import type { StreamEvent } from '../../client/index.ts';
import { answeredBy, itemOf, questionOf } from '../asking/item.ts';
import type { Item } from '../asking/item.ts';

export type Standing = {
  /** Of the context itself. */
  receive(event: StreamEvent): void;
  /** A worker below asks. */
  ask(item: Item): void;
  /** Somebody answered it. */
  drop(toolCallId: string): void;
  /** A job that was accepted. */
  sent(jobId: string): void;
  /** What waits for the person, the oldest first; null: nothing. */
  asked(): Item | null;
  /** It is being answered. */
  taken(item: Item): void;
  isBusy(): boolean;
  /** Resolves once no job is under way, or something waits for the person. */
  rest(): Promise<void>;
};

export function openStanding(): Standing {
  const jobs = new Set<string>();
  const over = new Set<string>();
  const asked: Item[] = [];
  let waiting: (() => void)[] = [];
  const isAtRest = (): boolean => jobs.size === 0 || asked.length > 0;
  const drop = (toolCallId: string): void => {
    const at = asked.findIndex(({ tool_call_id }) => tool_call_id === toolCallId);
    if (at !== -1) asked.splice(at, 1);
  };
  const wake = (): void => {
    if (!isAtRest()) return;
    for (const resolve of waiting.splice(0)) resolve();
  };
  // A client's own tool is run by that client.
  const ask = (item: Item): void => {
    if (item.kind !== 'input' || questionOf(item) !== null) asked.push(item);
    wake();
  };
  return {
    ask,
    drop,
    receive(event) {
      if (event.event === 'JobStarted') jobs.add(event.data.job_id);
      if (event.event === 'JobFinished') {
        jobs.delete(event.data.job_id);
        over.add(event.data.job_id);
      }
      const item = itemOf(event);
      if (item !== null) ask(item);
      const answered = answeredBy(event);
      if (answered !== null) drop(answered);
      wake();
    },
    sent(jobId) {
      // The stream may have been faster than the answer.
      if (!over.has(jobId)) jobs.add(jobId);
    },
    asked: () => asked[0] ?? null,
    taken: ({ tool_call_id }) => drop(tool_call_id),
    isBusy: () => jobs.size > 0,
    rest: () =>
      new Promise((resolve) => {
        waiting = [...waiting, resolve];
        wake();
      }),
  };
}
