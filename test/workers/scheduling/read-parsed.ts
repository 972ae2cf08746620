// Submissions without roles: what a process without a config file reads of them.
import { parseSubmission } from '../../../src/api/request/submitted-job.ts';
import type { WorkerPorts } from '../../../src/workers/process/ports.ts';

export const readParsed: WorkerPorts['readSubmission'] = async (_, body) => {
  const parsed = parseSubmission(body);
  return parsed.kind === 'refused' ? parsed : { kind: 'read', job: parsed.job, role: null };
};
