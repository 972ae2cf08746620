/**
 * Checks what a token reaches, by what its route declares, before the body is read. What a token does not reach is not
 * found, as if it did not exist.
 */
import type { FastifyRequest } from 'fastify';
import type { Executor } from '../../db/connection/client.ts';
import type { Named } from '../../db/read/reach.ts';
import { sees } from '../access/reach.ts';
import { refused } from '../response/problem.ts';
import { contextId, jobId, noContext, noJob, noWorker, workerId } from '../routes/params.ts';

/** Throws `RequestRefused`. */
export async function requireReach(executor: Executor, request: FastifyRequest): Promise<void> {
  if (request.is404) return;
  const { tokens } = request.routeOptions.config;
  switch (tokens) {
    case 'any':
    case 'filtered':
      return;
    case 'context':
    case 'worker':
    case 'job': {
      const named = namedBy(tokens, request.params);
      if (!(await sees(executor, request, named))) throw refused('not_found', MISSING[tokens](named.id));
      return;
    }
    case 'none':
    case undefined:
      throw refused('forbidden', 'Tokens have no access to this route. Use a key of the tenant.');
  }
}

const MISSING = { context: noContext, worker: noWorker, job: noJob };

/** Throws if the id is malformed. */
function namedBy(kind: Named['kind'], params: unknown): Named {
  const id = typeof params === 'object' && params !== null && 'id' in params ? String(params.id) : '';
  switch (kind) {
    case 'context':
      return { kind, id: contextId(id) };
    case 'worker':
      return { kind, id: workerId(id) };
    case 'job':
      return { kind, id: jobId(id) };
  }
}
