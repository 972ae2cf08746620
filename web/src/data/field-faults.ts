/** Which fields of a form a refused request is about. */
import { NightshiftError } from 'nightshift/client';

/** `path`: the name of a field in the request, such as `target.context_id`. */
type Fault = { path: string; message: string };

export type FieldFaults = {
  /** The first fault of a field, or of a member of it; null: none. */
  of: (path: string) => string | null;
  /** The error, unless all of it is shown at fields. */
  rest: Error | null;
};

/** `shown`: the fields of the form that show their faults. */
export function fieldFaults(error: Error | null, shown: readonly string[]): FieldFaults {
  const faults = faultsOf(error);
  const isWithin = (fault: Fault, path: string) => fault.path === path || fault.path.startsWith(`${path}.`);
  const isShown = (fault: Fault) => shown.some((path) => isWithin(fault, path));
  return {
    of: (path) => faults.find((fault) => isWithin(fault, path))?.message ?? null,
    rest: faults.length > 0 && faults.every(isShown) ? null : error,
  };
}

function faultsOf(error: Error | null): readonly Fault[] {
  if (!(error instanceof NightshiftError)) return [];
  if (error.errors.length > 0) return error.errors;
  return error.param === null ? [] : [{ path: error.param, message: error.message }];
}
