/** Exit codes and error messages of the command line. */
import { NightshiftError, type ErrorCode, type Job } from '../client/index.ts';

export const EXIT = {
  completed: 0,
  failed: 1,
  usage: 2,
  unavailable: 3,
  incomplete: 4,
  stopped: 5,
  /** The job waits for a person, and the command may not prompt. */
  waits: 6,
  ctrlC: 130,
  terminated: 143,
  /** The reader of stdout closed it; the code of a program ended by SIGPIPE. */
  unread: 141,
} as const;
export type Exit = (typeof EXIT)[keyof typeof EXIT];

/** Ends the command with its message on stderr. */
export class CommandError extends Error {
  override name = 'CommandError';
  readonly exit: Exit;
  constructor(exit: Exit, message: string) {
    super(message);
    this.exit = exit;
  }
}

/** The exit code for the status of a job. An unfinished job is not a failure. */
export function exitOf(status: Job['status']): Exit {
  switch (status) {
    case 'completed':
    case 'delayed':
    case 'queued':
    case 'running':
    case 'waiting':
      return EXIT.completed;
    case 'failed':
      return EXIT.failed;
    case 'incomplete':
      return EXIT.incomplete;
    case 'cancelled':
    case 'interrupted':
      return EXIT.stopped;
  }
}

const AWAY: readonly ErrorCode[] = [
  'unreachable',
  'timed_out',
  'unexpected_answer',
  'unavailable',
  'unauthorized',
  'forbidden',
];
const MISUSED: readonly ErrorCode[] = [
  'invalid_request',
  'unsupported',
  'unknown_model',
  'unknown_role',
  'unknown_tool',
  'payload_too_large',
];

/** An error that ends a command, for programs. */
export type Fault = {
  /** A code of the API or of its client, or `usage`, `refused`, `unavailable` of the command line itself. */
  code: string;
  message: string;
  /** HTTP status; null: the error is not an answer of the API. */
  status: number | null;
  request_id?: string;
  /** All faults of an invalid request, if it has several. */
  errors?: NightshiftError['errors'];
};

/** The error that `--json` prints. Null: an unexpected error. */
export function toFault(error: unknown, url: string): Fault | null {
  if (error instanceof CommandError) return { code: codeOf(error.exit), message: error.message, status: null };
  if (!(error instanceof NightshiftError)) return null;
  const { code, message, status, requestId, errors } = error;
  return {
    code,
    message: code === 'unreachable' ? awayText(url) : message,
    status,
    ...(requestId !== null && { request_id: requestId }),
    ...(errors.length > 1 && { errors }),
  };
}

function codeOf(exit: Exit): string {
  if (exit === EXIT.usage) return 'usage';
  return exit === EXIT.unavailable ? 'unavailable' : 'refused';
}

/** The exit code and message for an error that ends a command; null: an unexpected error. */
export function toEnd(error: unknown, url: string): { exit: Exit; message: string } | null {
  if (error instanceof CommandError) return error;
  if (!(error instanceof NightshiftError)) return null;
  if (MISUSED.includes(error.code)) return { exit: EXIT.usage, message: format(error) };
  if (!isAway(error)) return { exit: EXIT.failed, message: format(error) };
  if (error.code === 'unreachable') return { exit: EXIT.unavailable, message: awayText(url) };
  return { exit: EXIT.unavailable, message: `${format(error)} ${advice(error.code, url)}` };
}

/** A `forbidden` error with a param refuses one field of the request; it does not ask for another key. */
function isAway({ code, param }: NightshiftError): boolean {
  return AWAY.includes(code) && (code !== 'forbidden' || param === null);
}

/** Several faults are printed one per line. The message of the API does not include all of them. */
function format({ code, message, param, errors, requestId }: NightshiftError): string {
  const request = requestId === null ? [] : [`request ${requestId}`];
  if (errors.length < 2) return withDetails(message, [code, ...at(param), ...request]);
  const title = withDetails('The request has several faults', request);
  const faults = errors.map((fault) => withDetails(fault.message, [fault.code, ...at(fault.path)]));
  return [`${title}:`, ...faults].join('\n');
}

/** An empty path is the request itself. */
function at(path: string | null): string[] {
  return path === null || path === '' ? [] : [`at ${path}`];
}

function withDetails(text: string, details: readonly string[]): string {
  return details.length === 0 ? text : `${text} (${details.join(', ')})`;
}

function advice(code: ErrorCode, url: string): string {
  if (code === 'unauthorized')
    return `Set NIGHTSHIFT_API_KEY to a key of the API at ${url}, or run \`nightshift login\`.`;
  if (code === 'forbidden')
    return 'Set NIGHTSHIFT_API_KEY to a key that may do this, or run `nightshift login` with it.';
  return `Run \`nightshift doctor\` to find the problem with ${url}.`;
}

function awayText(url: string): string {
  return `No API answers at ${url} (unreachable). Start it with \`nightshift start\`, or set NIGHTSHIFT_URL or --url.`;
}
