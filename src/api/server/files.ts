/** Answers 404 for paths that the static file server refuses (outside the folder, NUL, names that are too long). */
import type { FastifyError, FastifyReply } from 'fastify';
import { refuse } from '../../core/errors.ts';
import type { App } from './ports.ts';
import { sendProblem } from '../response/problem.ts';

export function answerRefusedFiles(page: App): void {
  page.setErrorHandler<FastifyError>((error, _, reply) => {
    if ((error.statusCode ?? 500) < 500 || error.code === 'ENAMETOOLONG') return notThere(reply);
    throw error;
  });
}

export function notThere(reply: FastifyReply): FastifyReply {
  return sendProblem(
    reply,
    refuse('not_found', 'The API has no such path. See GET /api/openapi.json or /docs for all paths.'),
  );
}
