/** Answers 202 with the job that a request made. The line of the request in the log names that job. */
import type { FastifyReply, FastifyRequest } from 'fastify';

export function accepted<Answer extends { job_id: string }>(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
): Answer {
  request.madeJob = answer.job_id;
  reply.code(202);
  return answer;
}
