/**
 * The spans of a run, with the names and attributes of the OpenTelemetry conventions for generative AI: `invoke_agent`
 * for each job that it works on, and below it `chat` and `execute_tool`. A job that another run continues gets another
 * `invoke_agent` span in the same trace: the parent of all of them is stored with the job.
 */
import { serverOf } from '../../core/tools/mcp-tool-name.ts';
import { madeAt, type JobId } from '../../core/ids.ts';
import {
  beforeStart,
  type Model,
  type ModelName,
  type ModelOutcome,
  type ProviderName,
} from '../../core/model/model.ts';
import type { Append } from '../../core/run/append.ts';
import type { ActiveJob, JobOutcome } from '../../core/run/job.ts';
import type { Snapshot } from '../../core/run/snapshot.ts';
import type { Access } from '../../core/run/throttle.ts';
import type { ToolInvocation, ToolOutcome, ToolRunner } from '../../core/tools/tool.ts';
import { traceParentOfJob, type TraceParent } from '../../core/tracing/trace-parent.ts';
import type { Span, SpanAttributes, SpanStart, Tracing } from '../../core/tracing/tracing.ts';

type Current = { job: ActiveJob; span: Span };

export class RunTrace {
  readonly #tracing: Tracing;
  #agent: SpanAttributes = {};
  #name = '';
  #current: Current | null = null;

  constructor(tracing: Tracing) {
    this.#tracing = tracing;
  }

  /** The run begins with this snapshot, or again with it: a claim prepares its first model call before it commits. */
  open(snapshot: Snapshot): void {
    const { workerId, workerName, lease, serving, job } = snapshot;
    this.#name = workerName;
    this.#agent = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': workerId,
      'gen_ai.agent.name': workerName,
      'gen_ai.conversation.id': lease.contextId,
      ...(serving.kind === 'served' && modelAttributes(serving.settings.model)),
      'nightshift.tenant': lease.tenantName,
    };
    if (job !== null) this.#begin(job);
  }

  /** A job begins or ends with the append that says so. */
  committed({ job: change }: Append): void {
    switch (change?.kind) {
      case 'admit':
        this.#begin(change.job);
        this.#queued(change.job);
        break;
      case 'settle':
        this.#settled(change.outcome);
        break;
      case 'progress':
      case undefined:
        break;
    }
  }

  #begin(job: ActiveJob): void {
    if (this.#current?.job.id === job.id) return;
    this.end();
    const span = this.#tracing.start(`invoke_agent ${this.#name}`, {
      kind: 'internal',
      ...placeOf(job),
      attributes: { ...this.#agent, 'nightshift.job.id': job.id, 'nightshift.job.attempt': job.attempt },
    });
    this.#current = { job, span };
  }

  /** From its post to its admission. */
  #queued(job: ActiveJob): void {
    const attributes = { 'nightshift.job.id': job.id };
    this.#tracing.start('queued', { kind: 'internal', ...placeOf(job), attributes, beganAt: madeAt(job.id) }).end();
  }

  #settled(outcome: JobOutcome): void {
    const span = this.#current?.span;
    span?.set({ 'nightshift.job.status': outcome.status });
    if ('error' in outcome) span?.fail(outcome.error.code);
    this.end();
  }

  /** The run breaks off, and another one continues its job. */
  fail(reason: 'lease_lost' | 'internal'): void {
    this.#current?.span.fail(reason);
  }

  /** The job ended, or the run does. */
  end(): void {
    this.#current?.span.end();
    this.#current = null;
  }

  /** For what the job causes elsewhere; null: nothing is traced. */
  traceParentOf(job: ActiveJob): TraceParent | null {
    return this.#spanOf(job.id) ?? job.traceParent;
  }

  /** For what the call starts; null: nothing is traced. */
  traceParentOfCall({ jobId, traceParent }: ToolInvocation): TraceParent | null {
    return this.#spanOf(jobId) ?? traceParent;
  }

  #spanOf(job: JobId): TraceParent | null {
    const current = this.#current;
    return current?.job.id === job ? current.span.traceParent : null;
  }

  access(name: ModelName, access: Access | null): Access | null {
    return access?.kind === 'open' ? { ...access, model: this.#traced(name, access.model) } : access;
  }

  tools(runner: ToolRunner): ToolRunner {
    return {
      ...runner,
      execute: (call, signal, report) =>
        this.#below(`execute_tool ${call.name}`, toolStart(call), async (span) => {
          const traced = { ...call, traceParent: span.traceParent ?? call.traceParent };
          const outcome = await runner.execute(traced, signal, report);
          const fault = toolFault(outcome);
          if (fault !== null) span.fail(fault);
          return outcome;
        }),
    };
  }

  #traced(name: ModelName, model: Model): Model {
    return {
      isLoaded: () => model.isLoaded(),
      call: (request, listener, signal) => {
        const attributes = {
          'gen_ai.operation.name': 'chat',
          ...modelAttributes(name),
          'gen_ai.request.stream': request.streaming,
          ...(request.maxTokens !== null && { 'gen_ai.request.max_tokens': request.maxTokens }),
          ...(request.outputSchema !== null && { 'gen_ai.output.type': 'json' }),
          ...this.#conversation(),
        };
        return this.#below(`chat ${name.model}`, { kind: 'client', parent: null, attributes }, async (span) => {
          const began = performance.now();
          const timed = beforeStart(listener, () =>
            span.set({ 'gen_ai.response.time_to_first_chunk': (performance.now() - began) / 1_000 }),
          );
          const outcome = await model.call(request, timed, signal);
          takeOutcome(span, outcome);
          return outcome;
        });
      },
    };
  }

  #conversation(): SpanAttributes {
    const id = this.#agent['gen_ai.conversation.id'];
    return id === undefined ? {} : { 'gen_ai.conversation.id': id };
  }

  /** `start.parent`: while no job runs. */
  async #below<T>(name: string, start: SpanStart, work: (span: Span) => Promise<T>): Promise<T> {
    const parent = this.#current?.span.traceParent ?? start.parent;
    const span = this.#tracing.start(name, { ...start, parent });
    try {
      return await span.within(() => work(span));
    } catch (error) {
      span.fail('internal');
      throw error;
    } finally {
      span.end();
    }
  }
}

function placeOf(job: ActiveJob): Pick<SpanStart, 'parent' | 'otherwise'> {
  return { parent: job.traceParent, otherwise: traceParentOfJob(job.id) };
}

/** The name of the provider in the conventions. */
function providerName(provider: ProviderName): string {
  switch (provider) {
    case 'openai':
    case 'openai-chat':
      return 'openai';
    case 'anthropic':
    case 'simulated':
      return provider;
  }
}

function modelAttributes({ provider, model }: ModelName): SpanAttributes {
  return { 'gen_ai.provider.name': providerName(provider), 'gen_ai.request.model': model };
}

/** Only tools that the worker has are executed, so names that its model invented are in no span. */
function toolStart({ id, name, jobId, contextId, traceParent }: ToolInvocation): SpanStart {
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': id,
    'gen_ai.tool.type': serverOf(name) === null ? 'function' : 'extension',
    'gen_ai.conversation.id': contextId,
    'nightshift.job.id': jobId,
    ...(serverOf(name) !== null && { 'mcp.method.name': 'tools/call' }),
  };
  return { kind: 'internal', parent: traceParent, otherwise: traceParentOfJob(jobId), attributes };
}

/** Null: the call did not fail. */
function toolFault(outcome: ToolOutcome): string | null {
  switch (outcome.kind) {
    case 'result':
      return outcome.is_error ? 'tool_error' : null;
    case 'aborted':
      return 'aborted';
  }
}

function takeOutcome(span: Span, outcome: ModelOutcome): void {
  switch (outcome.kind) {
    case 'done': {
      const { usage, finishReason, modelId, responseId } = outcome.answer;
      span.set({
        'gen_ai.response.finish_reasons': [finishReason],
        'gen_ai.response.model': modelId,
        ...(responseId !== null && { 'gen_ai.response.id': responseId }),
        // The conventions count cached tokens too.
        'gen_ai.usage.input_tokens': usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
        'gen_ai.usage.output_tokens': usage.output_tokens,
        'gen_ai.usage.cache_read.input_tokens': usage.cache_read_tokens,
        'gen_ai.usage.cache_creation.input_tokens': usage.cache_write_tokens,
      });
      break;
    }
    case 'failed':
      span.fail(outcome.failure.class);
      break;
    case 'aborted':
      span.fail('aborted');
      break;
  }
}
