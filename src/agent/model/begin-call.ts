/** Starts a model call: builds the request and forwards the stream to a listener. */
import type { Model, ModelRequest } from '../../core/model/model.ts';
import { pinnedText } from '../../core/conversation/pinned.ts';
import { assemble } from '../../core/conversation/prompt.ts';
import { schemaFor } from '../../core/run/output.ts';
import type { ServedJob, Snapshot } from '../../core/run/snapshot.ts';
import type { AnswerListener, RunPorts, UnderWay } from '../run.ts';
import { timed } from './timed.ts';
import { untilDeadline } from '../waits/until-deadline.ts';

/**
 * Ends with `signal` or at the job's deadline. The fingerprint of the request is computed while the answer is
 * awaited.
 */
export function beginCall(
  { clock, log, fingerprint }: Pick<RunPorts, 'clock' | 'log' | 'fingerprint'>,
  snapshot: Snapshot,
  { job, settings }: ServedJob,
  { model, signal, forwardTo }: { model: Model; signal: AbortSignal; forwardTo: AnswerListener },
): UnderWay {
  const request = toRequest(snapshot, { job, settings });
  log.prompt(job.id, request.messages);
  const { listener, times, text } = timed(clock, forwardTo);
  const outcome = untilDeadline(clock, job, signal, (bounded) => model.call(request, listener, bounded));
  // Client tools are excluded: they are stored in the worker's config.
  const listed = settings.tools.filter((tool) => tool.answered_by !== 'client');
  return { outcome, times, text, prompt: fingerprint({ ...request, listed }, snapshot) };
}

function toRequest(snapshot: Snapshot, { job, settings }: ServedJob): ModelRequest {
  return {
    model: settings.model,
    system: settings.systemPrompt,
    pinned: pinnedText(settings.pinned),
    messages: assemble(snapshot.history, snapshot.compacted),
    tools: settings.tools,
    maxTokens: settings.maxTokens,
    streaming: settings.streaming,
    outputSchema: schemaFor(job, settings),
    parameters: settings.parameters,
    cacheKey: snapshot.rootContextId,
    failures: job.failures,
  };
}
