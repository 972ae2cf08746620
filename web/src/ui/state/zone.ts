/** The time zone of all shown times and of days in filters: that of the browser, or UTC; stored in the browser. */
import { stored } from './stored.ts';

export type Zone = 'local' | 'utc';

const zone = stored<Zone>('zone', ['local', 'utc']);

export function useZone(): [Zone, (zone: Zone) => void] {
  return [zone.use(), zone.set];
}
