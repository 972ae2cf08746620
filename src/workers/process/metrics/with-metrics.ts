/** Measures the model and tool calls of a process. */
import { beforeStart, type Model, type ProviderName } from '../../../core/model/model.ts';
import type { ToolOutcome } from '../../../core/tools/tool.ts';
import { UNKNOWN_TOOL } from '../../../core/tools/tool-use.ts';
import type { ToolStatus, WorkerMetrics } from './metrics.ts';
import type { Abilities } from '../ports.ts';

export function withMetrics(abilities: Abilities, metrics: WorkerMetrics): Abilities {
  return {
    ...abilities,
    model(provider) {
      const model = abilities.model(provider);
      return model === null ? null : modelWithMetrics(model, provider, metrics);
    },
    tools: {
      ...abilities.tools,
      async execute(call, signal, services) {
        const began = performance.now();
        const outcome = await abilities.tools.execute(call, signal, services);
        const ms = performance.now() - began;
        metrics.tool(call.name, statusOf(outcome), ms);
        if (outcome.kind === 'result' && outcome.code !== UNKNOWN_TOOL) metrics.use.took(call.tenantId, call.name, ms);
        return outcome;
      },
      async reconcile(call, signal) {
        const reconciled = await abilities.tools.reconcile(call, signal);
        metrics.outcomeUnknown(reconciled.kind);
        return reconciled;
      },
    },
  };
}

function modelWithMetrics(model: Model, provider: ProviderName, metrics: WorkerMetrics): Model {
  return {
    isLoaded: () => model.isLoaded(),
    async call(request, listener, signal) {
      const began = performance.now();
      const timed = beforeStart(listener, () => metrics.timeToFirstToken(provider, performance.now() - began));
      const outcome = await model.call(request, timed, signal);
      metrics.called(provider, outcome, performance.now() - began);
      return outcome;
    },
  };
}

function statusOf(outcome: ToolOutcome): ToolStatus {
  switch (outcome.kind) {
    case 'result':
      return outcome.is_error ? 'failed' : 'completed';
    case 'aborted':
      return 'aborted';
  }
}
