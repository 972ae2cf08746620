// The requests of clients to one conversation: the commands, as the routes execute them.
import { editInput, regenerate } from '../../../src/commands/inputs/regenerate.ts';
import { answerCall } from '../../../src/commands/calls/answer-call.ts';
import { cancelJob } from '../../../src/commands/jobs/cancel-job.ts';
import {
  createBranch,
  deleteBranch,
  switchBranch,
  type CreateBranch,
} from '../../../src/commands/contexts/change-branches.ts';
import { clearContext } from '../../../src/commands/contexts/clear-context.ts';
import { compactContext } from '../../../src/commands/contexts/compact-context.ts';
import { interruptContext } from '../../../src/commands/contexts/interrupt-context.ts';
import { perform, type AnyCommand } from '../../../src/commands/perform.ts';
import type { CommandPorts } from '../../../src/commands/ports.ts';
import { submitInput } from '../../../src/commands/inputs/submit-input.ts';
import type { Delivery, SubmitInput } from '../../../src/commands/inputs/posted-input.ts';
import type { InputBlock } from '../../../src/core/conversation/blocks.ts';
import type { Code } from '../../../src/core/errors.ts';
import { DEFAULT_TENANT, type ContextId, type JobId, type MessageId, type ToolCallId } from '../../../src/core/ids.ts';
import type { AskedCompaction } from '../../../src/core/compaction/settings.ts';
import type { InterruptMode } from '../../../src/core/run/job.ts';
import { postedInput } from '../../db/inputs.ts';
import { padded } from './entries.ts';

/** The result of an operation: the job and the message that it made or targeted. */
export type Outcome =
  | { kind: 'done'; jobId: JobId | null; messageId: MessageId | null }
  | { kind: 'refused'; code: Code };

type Submission = {
  words: string | null;
  branch: string | null;
  delivery: Delivery;
  maxSteps: number | null;
};

export class ClientCommands {
  readonly #ports: CommandPorts;
  readonly #target: { tenantId: typeof DEFAULT_TENANT; contextId: ContextId };

  constructor(ports: CommandPorts, contextId: ContextId) {
    this.#ports = ports;
    this.#target = { tenantId: DEFAULT_TENANT, contextId };
  }

  submit({ branch, ...submission }: Submission): Promise<Outcome> {
    const input = { ...this.#input(submission), branch };
    return this.#perform(submitInput(this.#ports, input));
  }

  revise(revision: Omit<Submission, 'branch'> & { id: MessageId; name: string | null }): Promise<Outcome> {
    const { content, ...input } = this.#input(revision);
    const { id: messageId, name } = revision;
    return this.#perform(
      content === null
        ? regenerate(this.#ports, { messageId, name, input: { ...input, content } })
        : editInput(this.#ports, { messageId, name, input: { ...input, content } }),
    );
  }

  answer(toolCallId: ToolCallId, words: string): Promise<Outcome> {
    const target = { ...this.#target, toolCallId };
    return this.#perform(answerCall(this.#ports, target, { content: padded(words), isError: false }));
  }

  interrupt(mode: InterruptMode): Promise<Outcome> {
    return this.#perform(interruptContext(this.#ports, { ...this.#target, mode, by: null }));
  }

  cancel(jobId: JobId): Promise<Outcome> {
    return this.#perform(cancelJob(this.#ports, { tenantId: DEFAULT_TENANT, jobId, reason: null, by: null }));
  }

  createBranch(branch: Omit<CreateBranch, 'tenantId' | 'contextId'>): Promise<Outcome> {
    return this.#perform(createBranch({ ...this.#target, ...branch }));
  }

  switchBranch(name: string): Promise<Outcome> {
    return this.#perform(switchBranch(this.#target, name));
  }

  deleteBranch(name: string): Promise<Outcome> {
    return this.#perform(deleteBranch(this.#target, name));
  }

  compact(asked: AskedCompaction): Promise<Outcome> {
    const command = compactContext(this.#ports, { ...this.#target, asked, queueLimit: 1_000 });
    return this.#perform(command);
  }

  clear(): Promise<Outcome> {
    return this.#perform(clearContext(this.#ports, { ...this.#target, isCurrent: () => true }));
  }

  #input({ words, delivery, maxSteps }: Omit<Submission, 'branch'>): SubmitInput {
    const content: InputBlock[] | null = words === null ? null : [{ type: 'text', text: padded(words) }];
    return { ...postedInput({ content, delivery, maxSteps }), ...this.#target };
  }

  async #perform(command: AnyCommand<Made>): Promise<Outcome> {
    const outcome = await perform(this.#ports, command);
    if (outcome.kind === 'refused') return { kind: 'refused', code: outcome.code };
    const { jobId = null, messageId = null } = outcome.value;
    return { kind: 'done', jobId, messageId };
  }
}

/** The results of commands; most fields are not read. */
type Made = { jobId?: JobId | null; messageId?: MessageId | null; contextId?: ContextId; name?: string };
