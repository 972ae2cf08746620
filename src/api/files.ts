/** Files that the API serves: what the server of files refuses (paths out of the folder, NUL, names too long) is not there. */
import type { FastifyError, FastifyReply } from 'fastify';
import { refuse } from '../core/errors.ts';
import type { App } from './ports.ts';
import { sendProblem } from './problem.ts';

export function answerRefusedFiles(page: App): void {
  page.setErrorHandler<FastifyError>((error, _, reply) => {
    if ((error.statusCode ?? 500) < 500 || error.code === 'ENAMETOOLONG') return notThere(reply);
    throw error;
  });
}

export function notThere(reply: FastifyReply): FastifyReply {
  return sendProblem(reply, refuse('not_found', 'There is no such address.'));
}
