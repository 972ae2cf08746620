/** The versions of a role: any two are compared field by field, and an older one is restored as a new version. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { RoleVersion } from 'nightshift/client';
import { allOf } from '../../../data/query/pages-of.ts';
import { roleVersionsQuery } from '../../../data/query/workers.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { Dialog } from '../../../ui/layout/dialog.tsx';
import { LongList, type Place } from '../../../ui/layout/long-list.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { Badge } from '../../../ui/text/badge.tsx';
import { RelativeTime } from '../../../ui/text/time.tsx';
import { commonWords, settingsWords } from '../../../words.ts';
import { RestoreVersion } from './restore-version.tsx';
import { VersionDiff } from './version-diff.tsx';
import css from './versions.module.css';

const words = settingsWords.versions;

export function RoleVersions({ name, onClose }: { name: string | null; onClose: () => void }) {
  return (
    <Dialog open={name !== null} onClose={onClose} wide title={words.title(name ?? '')} description={words.about}>
      {name !== null && <Versions name={name} />}
    </Dialog>
  );
}

/** Numbers of the two versions that are compared; `before` null: none, so that all of `after` is new. */
type Compared = { before: number | null; after: number };

/** A version to restore, and the one that was current when this was asked for: a later one must not be overwritten. */
type Restoring = { version: RoleVersion; current: RoleVersion };

function Versions({ name }: { name: string }) {
  const read = useInfiniteQuery(roleVersionsQuery(name));
  const [compared, setCompared] = useState<Compared | null>(null);
  const [restoring, setRestoring] = useState<Restoring | null>(null);
  if (read.data === undefined)
    return read.isError ? (
      <ErrorState error={read.error} onRetry={() => void read.refetch()} busy={read.isFetching} />
    ) : (
      <Skeleton lines={4} />
    );
  const versions = allOf(read.data);
  const newest = versions[0];
  if (newest === undefined) return <p>{words.none}</p>;
  const { before, after } = compared ?? { before: versions[1]?.version ?? null, after: newest.version };
  return (
    <div className={css.versions}>
      <LongList
        ordered
        label={words.list}
        className={css.items}
        items={versions}
        itemKey={({ version }) => String(version)}
        more={read.hasNextPage}
      >
        {(one, place) => (
          <VersionItem
            key={one.version}
            place={place}
            version={one}
            isCurrent={one === newest}
            isBefore={one.version === before}
            isAfter={one.version === after}
            onCompare={() => setCompared(pairOf(one.version, newest.version))}
            onRestore={() => setRestoring({ version: one, current: newest })}
          />
        )}
      </LongList>
      {read.hasNextPage && (
        <Button size="small" busy={read.isFetchingNextPage} onClick={() => void read.fetchNextPage()}>
          {commonWords.showMore}
        </Button>
      )}
      <VersionDiff
        versions={versions}
        before={before}
        after={after}
        onChange={(changed) => setCompared({ before, after, ...changed })}
      />
      {restoring !== null && (
        <RestoreVersion
          name={name}
          {...restoring}
          onClose={() => setRestoring(null)}
          onRestored={() => setCompared(null)}
        />
      )}
    </div>
  );
}

/** A version is compared with the current one, and the current one with the version before it. */
function pairOf(version: number, newest: number): Compared {
  if (version !== newest) return { before: version, after: newest };
  return { before: version === 1 ? null : version - 1, after: version };
}

type ItemProps = {
  place: Place;
  version: RoleVersion;
  isCurrent: boolean;
  isBefore: boolean;
  isAfter: boolean;
  onCompare: () => void;
  onRestore: () => void;
};

function VersionItem({ place, version: one, isCurrent, isBefore, isAfter, onCompare, onRestore }: ItemProps) {
  const { version, definition, created_at: at } = one;
  return (
    <li {...place} data-compared={isBefore || isAfter} aria-label={words.version(version)}>
      <span className={css.number}>{words.version(version)}</span>
      {isCurrent && definition !== null && <Badge tone="accent">{words.current}</Badge>}
      {definition === null && <Badge tone="red">{words.deleted}</Badge>}
      <span className={css.at}>
        <RelativeTime at={at} />
      </span>
      <span className={css.buttons}>
        <Button size="small" variant="quiet" onClick={onCompare} aria-label={words.compareVersion(version)}>
          {words.compare}
        </Button>
        {!isCurrent && definition !== null && (
          <Button size="small" onClick={onRestore} aria-label={words.restoreVersion(version)}>
            {words.restore}
          </Button>
        )}
      </span>
    </li>
  );
}
