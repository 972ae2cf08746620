/** Which columns the table of jobs shows; the browser remembers it. */
import { storedJson } from '../../ui/state/stored-json.ts';
import { columnsOf, type ColumnName } from './columns.ts';

const DEFAULT: readonly ColumnName[] = ['context', 'model', 'status', 'tokens', 'duration', 'created'];

const shown = storedJson<readonly ColumnName[]>('jobs.columns', columnsOf, DEFAULT);

export function useColumns(): [readonly ColumnName[], (columns: readonly ColumnName[]) => void] {
  return [shown.use(), shown.set];
}
