/** The person or client that answers calls of a run, as functions of the test. */
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { ASK_USER, parseQuestion } from '../../core/conversation/question.ts';
import type { ResultPart } from '../../core/conversation/blocks.ts';
import type { ApprovalDecision, Reply } from '../../core/tools/tool-call.ts';
import type { Registry } from '../../tools/registry/registry.ts';
import { TestKitError } from '../error.ts';

/** A call that waits for a person or a client. */
export type WaitingCall = {
  /** A UUID. */
  id: string;
  /** The name of the tool. */
  tool: string;
  /** What the model asks for. */
  input: Json;
  /** Of a call of `ask_user`; null: another tool. */
  question: string | null;
  /** The answers that it offers; null: it offers none. */
  choices: readonly string[] | null;
  /** Whose call it is: of the worker that the test runs, or of one below it. */
  worker: {
    /** Its name. */
    name: string;
    /** Its role; null: it has none. */
    role: string | null;
  };
};

/** A call that waits, and for what: a decision, or an answer. */
export type Awaited = {
  /** The call. */
  call: WaitingCall;
  /** Whether a decision or an answer is missing. */
  waits_for: 'approval' | 'answer';
};

/** What a person decides on a call. */
export type Decision =
  | 'approve'
  | 'reject'
  | {
      /** Approves it with another input, which the schema of the tool must accept. */
      approve: JsonObject;
    }
  | {
      /** Rejects it with a reason, which the model reads. */
      reject: string;
    };

/** Undefined: no decision, so that the wait goes on until its timeout. */
export type Approve = (call: WaitingCall) => Decision | undefined | Promise<Decision | undefined>;

/** A text, or what a tool of the client returned. */
export type Answer =
  | string
  | {
      /** What the model gets. */
      content: string | ResultPart[];
      /** The tool failed. Default: false. */
      is_error?: boolean | undefined;
    };

/** Undefined: no answer, so that the wait goes on until its timeout. */
export type AnswerCall = (call: WaitingCall) => Answer | undefined | Promise<Answer | undefined>;

/** Null: the person says nothing. */
export type People = {
  decide(call: WaitingCall): Promise<ApprovalDecision | null>;
  answer(call: WaitingCall): Promise<Reply | null>;
  /** The result of a call that waits for a time. Null: the time has to come. */
  wake(call: WaitingCall): Promise<Reply | null>;
};

export function peopleOf(
  registry: Registry,
  { approve, answer }: { approve?: Approve | undefined; answer?: AnswerCall | undefined },
): People {
  return {
    async decide(call) {
      const decision = await approve?.(call);
      if (decision === undefined) return null;
      const approval = toApproval(decision);
      if (approval.input !== null) await expectValid(registry, call.tool, approval.input);
      return approval;
    },
    async answer(call) {
      const given = await answer?.(call);
      if (given === undefined) return null;
      if (typeof given === 'string') return { content: given, isError: false };
      return { content: given.content, isError: given.is_error ?? false };
    },
    wake: async () => null,
  };
}

export function toWaitingCall(id: string, tool: string, input: Json): Omit<WaitingCall, 'worker'> {
  const question = tool === ASK_USER && isJsonObject(input) ? parseQuestion(input) : null;
  return { id, tool, input, question: question?.question ?? null, choices: question?.choices ?? null };
}

function toApproval(decision: Decision): ApprovalDecision {
  if (decision === 'approve') return { decision: 'approve', reason: null, input: null };
  if (decision === 'reject') return { decision: 'deny', reason: null, input: null };
  return 'approve' in decision
    ? { decision: 'approve', reason: null, input: decision.approve }
    : { decision: 'deny', reason: decision.reject, input: null };
}

/** As the API does: a tool that is not known checks its input when it runs. */
async function expectValid(registry: Registry, tool: string, input: Json): Promise<void> {
  const checked = await registry.get(tool, null)?.validate(structuredClone(input));
  if (checked === undefined || checked.ok) return;
  const message = `approve: the input does not match the schema of the tool ${tool}: ${checked.problems.join('; ')}.`;
  throw new TestKitError('invalid', message);
}
