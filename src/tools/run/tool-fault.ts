/**
 * An error of a built-in tool: a code for programs and models, and a message. As the result of a call it is JSON text:
 * `{"error": {"code", "message"}, …}`. Tools of the config file throw `ToolError` instead.
 */
import type { Code } from '../../core/errors.ts';
import { truncate } from './truncate.ts';

export const FAULT_CODES = [
  // All tools.
  'invalid_input',
  'input_too_deep',
  'timed_out',
  'internal',
  // http_fetch.
  'invalid_url',
  'unsupported_scheme',
  'invalid_header',
  'address_forbidden',
  'host_not_found',
  'connection_failed',
  'too_many_redirects',
  'invalid_response',
  'body_too_large',
  // Files.
  'invalid_path',
  'path_outside',
  'link_refused',
  'not_found',
  'not_a_file',
  'not_a_directory',
  'directory_not_empty',
  'file_too_large',
  'binary_file',
  'quota_exceeded',
  // run_command.
  'command_not_allowed',
  'command_not_found',
  'command_failed',
  'runner_unavailable',
  'limit_exceeded',
  // remember.
  'memory_full',
  'worker_gone',
] as const;
/** Refusals by platform commands keep their code. */
export type FaultCode = (typeof FAULT_CODES)[number] | Code;

/** Maximum characters of a message, which may quote other text. */
const LONGEST_MESSAGE = 4_000;

export class ToolFault extends Error {
  override name = 'ToolFault';
  readonly code: FaultCode;
  /** Partial results, added beside the error. */
  readonly beside: Readonly<Record<string, string>>;

  constructor(code: FaultCode, message: string, beside: Readonly<Record<string, string>> = {}) {
    super(message);
    this.code = code;
    this.beside = beside;
  }
}

/** `code`: a `FaultCode`, or that of a `ToolError`. */
export function codedText(code: string, message: string, beside: Readonly<Record<string, string>> = {}): string {
  return JSON.stringify({ error: { code, message: truncate(message, LONGEST_MESSAGE) }, ...beside });
}
