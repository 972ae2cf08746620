/** Prints the progress of a job on stderr. */
import type { Client, Job, Message, StreamEvent } from '../../client/index.ts';
import { inputText } from '../asking/item.ts';
import { openProgressLines } from './call-logs.ts';
import { lookOf } from '../terminal/ink.ts';
import { oneLine, safe } from '../terminal/safe.ts';
import type { Screen } from '../terminal/screen.ts';
import { count, money, formatDuration, tokensOf } from '../terminal/time.ts';

export type Progress = {
  receive(event: StreamEvent): Promise<void>;
  /** The tool calls of an answer. */
  calls(message: Pick<Message, 'content'>): void;
};

/** `label`: prefix of each line, the name of a descendant worker. */
export function openProgress(client: Client, screen: Screen, label: string): Progress {
  const requestedAt = new Map<string, number>();
  const note = (line: string): void => screen.note(screen.sideInk('dim', `${label}${line}`));
  const progressLine = openProgressLines();
  return {
    calls({ content }) {
      for (const block of content) {
        if (block.type !== 'tool_use') continue;
        requestedAt.set(block.id, performance.now());
        note(`→ ${oneLine(block.name)} ${inputText(block.input)}`);
      }
    },
    async receive(received) {
      const { event, data } = received;
      const line = progressLine(received);
      if (line !== null) note(line);
      if (event === 'JobStarted' && data.attempt > 1) note(`↻ attempt ${data.attempt}`);
      if (event === 'ToolCallFinished') {
        const since = requestedAt.get(data.tool_call_id);
        const took = since === undefined ? '' : ` ${formatDuration(performance.now() - since)}`;
        note(`${data.status === 'completed' ? '✓' : `✗ ${data.status}:`} ${oneLine(data.name)}${took}`);
      }
      if (event === 'WorkerSpawned') note(`⤷ worker ${oneLine(data.name)} (${data.worker_id})`);
      if (event === 'ContextCompacted')
        note(`≡ history compacted: ${data.tokens_before} → ${data.tokens_after} tokens`);
      if (event === 'MessagesRetracted') note(`← ${count(data.message_ids.length, 'message')} removed`);
      if (event === 'StateChanged' && data.new_state === 'TransientFailure') {
        // On any error, the line is printed without the state.
        const state = await client.contexts.state(data.context_id).catch(() => null);
        note(`! ${state === null ? 'a call failed and will be retried' : oneLine(state.why)}`);
      }
    },
  };
}

export function printEnd(screen: Screen, job: Job): void {
  const { sideInk } = screen;
  const ms =
    job.finished_at === null ? null : Date.parse(job.finished_at) - Date.parse(job.started_at ?? job.created_at);
  const parts = [
    ms === null ? null : formatDuration(ms),
    count(job.steps, 'step'),
    count(tokensOf(job.usage), 'token'),
    job.usage.cost === null ? null : money(job.usage.cost),
  ].filter((part) => part !== null);
  const error = job.error === null ? '' : `: ${safe(job.error.message)} (${job.error.code})`;
  const mark = job.status === 'completed' ? '✓' : '✗';
  screen.note(`${sideInk(lookOf(job.status), `${mark} ${job.status}${error}`)} ${sideInk('dim', parts.join(' · '))}`);
}
