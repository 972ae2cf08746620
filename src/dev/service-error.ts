// Why an embedded service did not start. The message tells the user what to do.

type ServiceErrorCode =
  | 'folder_in_use'
  | 'not_ours'
  | 'unsupported_platform'
  | 'not_installed'
  | 'no_place_for_data'
  | 'postgres_failed'
  | 'redis_failed';

export class ServiceError extends Error {
  readonly code: ServiceErrorCode;

  constructor(code: ServiceErrorCode, message: string) {
    super(message);
    this.name = 'ServiceError';
    this.code = code;
  }
}

/** The system's code (`EACCES`, `ENOENT` …) of a thrown error, if it has one. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
