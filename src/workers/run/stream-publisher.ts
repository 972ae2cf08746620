/**
 * Publishes a run to its subscribers: its appends once they are committed, the progress of its calls, and the model's
 * output as it arrives. Output is collected for a short time, numbered within each attempt, and kept until it is committed, so that a subscriber
 * that joins in the middle gets all of it at once. Without subscribers only claims are published,
 * and that jobs end or wait.
 */
import { deltasOf, jobNews, progressOf, type Bus, type JobNews, type LiveFrame, type Progress } from '../../bus/bus.ts';
import type { AnswerListener } from '../../agent/run.ts';
import type { Append, Committed, JobChange } from '../../core/run/append.ts';
import type { ContextId, ProcessId, ToolCallId } from '../../core/ids.ts';
import type { AnswerId, PartialMessage, StreamedText } from '../../core/stream/partial-message.ts';
import type { ProgressFrame } from '../../core/stream/call-progress.ts';
import { streamEventsOf } from '../../core/stream/stream-event.ts';
import type { Clock } from '../../core/time.ts';
import type { SubscriberRegistry } from '../process/subscriber-registry.ts';

/** How long output is collected, in milliseconds. The first output is published at once. */
const GATHER_MS = 25;

/** With more entries than this, a message carries only the number of the last one. */
const MANY = 100;

type Channel = 'text' | 'thinking';

/** An answer of the model, with its output that is not published yet. */
type Answer = { partial: PartialMessage; unsent: Record<Channel, string> };

/** The context, the process that runs it, and its clock. */
type Published = { contextId: ContextId; owner: ProcessId; clock: Clock };

const NOTHING: StreamedText = { text: '', sequence: -1 };

export class StreamPublisher {
  readonly #bus: Bus;
  readonly #subscribers: SubscriberRegistry;
  readonly #contextId: ContextId;
  readonly #owner: ProcessId;
  readonly #clock: Clock;
  readonly #leave: () => void;
  #answer: Answer | null = null;
  /** The partial message of the last failed call. If the same attempt starts again, its numbering continues. */
  #broken: PartialMessage | null = null;
  /** The last progress of each call that runs and reported any. */
  readonly #calls = new Map<ToolCallId, ProgressFrame>();
  /** The number of the last entry that is known to be stored; 0: none. */
  #head = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(bus: Bus, subscribers: SubscriberRegistry, { contextId, owner, clock }: Published) {
    this.#clock = clock;
    this.#bus = bus;
    this.#subscribers = subscribers;
    this.#contextId = contextId;
    this.#owner = owner;
    this.#leave = subscribers.enter(contextId, this);
  }

  /** The run has ended. */
  close(): void {
    this.#leave();
    this.#hush();
  }

  /** An append of the run was committed. `claims`: it is the first one under its lease. */
  committed(transition: Append, outcome: Committed, claims = false): void {
    const { job, entries } = transition;
    this.#head = outcome.headSeq;
    const made = this.#answer?.partial.of.messageId;
    if (entries.some((entry) => entry.kind === 'message' && entry.message.id === made)) this.#answer = null;
    const { headSeq } = outcome;
    const contextId = this.#contextId;
    const hasSubscribers = this.#hasSubscribers();
    const events = hasSubscribers && entries.length <= MANY ? streamEventsOf(transition, outcome) : null;
    if (hasSubscribers || claims) {
      this.#progress({
        contextId,
        headSeq,
        ...(events !== null && { entries: events }),
        ...(claims && { holder: { owner: this.#owner, epoch: transition.lease.epoch } }),
      });
    }
    this.#bus.changed.context(contextId);
    const { tenantId } = transition.lease;
    const status = newsOf(job);
    if (job !== null && status !== null)
      this.#bus.publish(jobNews(), { tenantId, contextId, jobId: job.job.id, headSeq, status });
  }

  /** A tool reported how far its call is. */
  callProgress(frame: ProgressFrame): void {
    this.#calls.set(frame.toolCallId, frame);
    this.#publishFrame(frame);
  }

  callEnded(id: ToolCallId): void {
    this.#calls.delete(id);
  }

  /** The listener for one model call. */
  listen(of: AnswerId): AnswerListener {
    const again = this.#broken;
    const isSame = again?.of.messageId === of.messageId && again.of.attempt === of.attempt;
    const from = (spoken: StreamedText | undefined): StreamedText =>
      isSame && spoken !== undefined && spoken.sequence >= 0 ? { text: '', sequence: spoken.sequence + 1 } : NOTHING;
    const answer: Answer = {
      partial: {
        of,
        state: 'StreamingLLMResponse',
        firstTokenAt: 0,
        text: from(again?.text),
        thinking: from(again?.thinking),
      },
      unsent: { text: '', thinking: '' },
    };
    return {
      started: () => {
        const at = this.#clock.now();
        answer.partial = { ...answer.partial, firstTokenAt: at };
        this.#answer = answer;
        this.#broken = null;
        this.#publishFrame(isSame ? { kind: 'snapshot', partial: answer.partial } : { kind: 'began', of, at });
      },
      text: (delta) => this.#add(answer, 'text', delta),
      thinking: (delta) => this.#add(answer, 'thinking', delta),
      ended: (isWhole) => this.#end(answer, isWhole),
    };
  }

  /** An API process asked for the current state. */
  answer(): void {
    if (this.#head > 0) {
      this.#progress({ contextId: this.#contextId, headSeq: this.#head });
    }
    for (const frame of this.#calls.values()) this.#publishFrame(frame);
    if (this.#answer === null) return;
    this.#fold(this.#answer);
    this.#publishFrame({ kind: 'snapshot', partial: this.#answer.partial });
  }

  #add(answer: Answer, channel: Channel, delta: string): void {
    answer.unsent[channel] += delta;
    if (this.#timer !== null || !this.#hasSubscribers()) return;
    this.#flush(answer);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#flush(answer);
    }, GATHER_MS);
  }

  #end(answer: Answer, isWhole: boolean): void {
    this.#hush();
    // The call never started.
    if (this.#answer !== answer) return;
    const { of } = answer.partial;
    if (!isWhole) {
      this.#broken = answer.partial;
      this.#answer = null;
      this.#publishFrame({ kind: 'broke', of });
      return;
    }
    this.#flush(answer);
    this.#fold(answer);
    answer.partial = { ...answer.partial, state: 'ProcessingLLMResponse' };
    const { text, thinking } = answer.partial;
    this.#publishFrame({
      kind: 'ended',
      of,
      textSequence: text.sequence,
      thinkingSequence: thinking.sequence,
    });
  }

  /** Publishes the collected output. Without subscribers it stays collected. */
  #flush(answer: Answer): void {
    if (!this.#hasSubscribers()) return;
    for (const channel of ['thinking', 'text'] as const) {
      const delta = answer.unsent[channel];
      if (delta === '') continue;
      this.#foldChannel(answer, channel);
      const { of, [channel]: spoken } = answer.partial;
      this.#publishFrame({ kind: 'delta', of, channel, delta, sequence: spoken.sequence });
    }
  }

  /** Moves unpublished output into the partial message, so that a snapshot contains it. */
  #fold(answer: Answer): void {
    for (const channel of ['thinking', 'text'] as const) this.#foldChannel(answer, channel);
  }

  #foldChannel(answer: Answer, channel: Channel): void {
    const delta = answer.unsent[channel];
    if (delta === '') return;
    const { text, sequence } = answer.partial[channel];
    answer.partial = { ...answer.partial, [channel]: { text: text + delta, sequence: sequence + 1 } };
    answer.unsent[channel] = '';
  }

  #publishFrame(frame: LiveFrame): void {
    if (this.#hasSubscribers()) this.#bus.publish(deltasOf(this.#contextId), frame);
  }

  #progress(progress: Progress): void {
    this.#bus.publish(progressOf(this.#contextId), progress);
  }

  #hasSubscribers(): boolean {
    return this.#subscribers.isListening(this.#contextId);
  }

  #hush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

/** Null: the job goes on. */
export function newsOf(job: JobChange | null): JobNews['status'] | null {
  if (job?.kind === 'settle') return 'ended';
  return job?.job.status === 'waiting' ? 'waiting' : null;
}
