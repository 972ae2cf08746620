/**
 * Checks a final answer by the schema of its job. An answer is checked before it is stored; if another process wrote
 * meanwhile, or the process died, it is stored alone, and checked here.
 */
import { textOf } from '../../core/conversation/blocks.ts';
import type { Decision } from '../../core/decide.ts';
import type { MessageId } from '../../core/ids.ts';
import type { ModelAnswer } from '../../core/model/model.ts';
import { judgeOutput, outputFor, type JudgedOutput } from '../../core/run/output.ts';
import type { ServedJob, Snapshot } from '../../core/run/snapshot.ts';
import { judged } from '../../core/transitions/answer.ts';
import { commit, type After, type Run } from '../run.ts';

/** Null: the job has no schema. */
export function judgeAnswer(
  { checkOutput }: Pick<Run, 'checkOutput'>,
  { job, settings }: ServedJob,
  { content, finishReason }: ModelAnswer,
): JudgedOutput | null {
  const output = outputFor(job, settings);
  if (output === null) return null;
  const { corrections } = job;
  return judgeOutput(output, { text: textOf(content), finishReason, corrections }, checkOutput);
}

export function checkStored(
  run: Run,
  snapshot: Snapshot,
  { job, output, outputId }: Extract<Decision, { kind: 'check_output' }>,
): Promise<After> {
  const answer = snapshot.history.findLast(({ id }) => id === outputId);
  if (answer === undefined) throw new Error(`The answer ${outputId} is not in history.`);
  const text = textOf(answer.content);
  const finishReason = answer.model?.finishReason ?? null;
  const judgement = judgeOutput(output, { text, finishReason, corrections: job.corrections }, run.checkOutput);
  const outcome = { output: judgement, answerId: outputId, noteId: run.ids.next<MessageId>() };
  return commit(run, snapshot, judged(snapshot, job, outcome));
}
