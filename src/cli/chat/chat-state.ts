/** The state of a chat: unfinished jobs, and items that wait for the person. */
import type { StreamEvent } from '../../client/index.ts';
import { answeredBy, itemOf, questionOf, type Item } from '../asking/item.ts';

export type ChatState = {
  /** Events of the context itself. */
  receive(event: StreamEvent): void;
  /** An item of a descendant worker. */
  ask(item: Item): void;
  /** The item was answered, or the person is answering it. */
  drop(toolCallId: string): void;
  /** The API accepted a job. */
  sent(jobId: string): void;
  /** The oldest item that waits for the person; null: none. */
  nextItem(): Item | null;
  isBusy(): boolean;
  /** Resolves when no job is unfinished, or an item waits for the person. */
  rest(): Promise<void>;
};

export function openChatState(): ChatState {
  const jobs = new Set<string>();
  const over = new Set<string>();
  const items: Item[] = [];
  let waiting: (() => void)[] = [];
  const isAtRest = (): boolean => jobs.size === 0 || items.length > 0;
  const drop = (toolCallId: string): void => {
    const at = items.findIndex(({ tool_call_id }) => tool_call_id === toolCallId);
    if (at !== -1) items.splice(at, 1);
  };
  const wake = (): void => {
    if (!isAtRest()) return;
    for (const resolve of waiting.splice(0)) resolve();
  };
  // Calls of client tools are answered by the client, not by the person.
  const ask = (item: Item): void => {
    if (item.kind !== 'input' || questionOf(item) !== null) items.push(item);
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
      // The stream may report the end of the job before the HTTP response arrives.
      if (!over.has(jobId)) jobs.add(jobId);
    },
    nextItem: () => items[0] ?? null,
    isBusy: () => jobs.size > 0,
    rest: () =>
      new Promise((resolve) => {
        waiting = [...waiting, resolve];
        wake();
      }),
  };
}
