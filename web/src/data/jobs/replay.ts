/** Reads what a job was run with, for a replay of it. */
import type { Client, Job } from 'nightshift/client';
import { codeOf } from './api-refusal.ts';
import type { Settings } from './replay-settings.ts';

/** As its first model call was sent; of a job without one, those that its worker has now, also from its role. */
export async function readSettings(client: Client, job: Job, signal: AbortSignal): Promise<Settings> {
  try {
    const sent = await client.jobs.prompt(job.id, 1, { signal });
    const isChanged = sent.differs.some((part) => part === 'system' || part === 'parameters');
    return {
      from: isChanged ? 'changed' : 'sent',
      model: sent.model,
      systemPrompt: sent.system,
      parameters: sent.parameters,
      outputSchema: sent.output_schema ?? false,
    };
  } catch (error) {
    if (codeOf(error) !== 'not_found') throw error;
    const { config, effective } = await client.workers.effective(job.worker_id, { signal });
    return {
      from: 'current',
      model: effective?.model.value ?? job.model,
      systemPrompt: effective?.system_prompt.value ?? config.system_prompt ?? '',
      parameters: effective?.parameters.value ?? config.parameters ?? {},
      outputSchema: null,
    };
  }
}
