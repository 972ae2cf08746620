import { shortId } from '../../data/format.ts';
import { useContextName, useWorkerName } from '../../data/names.ts';
import { useRoleNames } from '../../data/query/workers.ts';
import { withParam } from '../../data/search-params.ts';
import { DayFilter, FilterBar, FilterChips, SelectFilter } from '../../ui/forms/filters.tsx';
import { SearchField } from '../../ui/forms/search-field.tsx';
import { TextFilter } from '../../ui/forms/text-filter.tsx';
import { jobsWords } from '../../words.ts';
import { SORTS, sortOf } from './columns.ts';
import { KIND_OPTIONS, RANGES, STATUS_OPTIONS, memberOf, rangeOf, type JobSearch } from './filter.ts';

const words = jobsWords.filters;

/** Filters set by links from a context, a worker or a job. */
const OF = [
  { name: 'context_id', show: words.context },
  { name: 'worker_id', show: words.worker },
  { name: 'parent_job_id', show: words.parentJob },
] as const;

export function JobFilters({ search, onChange }: { search: JobSearch; onChange: (search: JobSearch) => void }) {
  const range = rangeOf(search);
  const roles = useRoleNames(search.role);
  const names = {
    context_id: useContextName(search.context_id),
    worker_id: useWorkerName(search.worker_id),
    parent_job_id: shortId(search.parent_job_id ?? ''),
  };
  const set = (name: keyof JobSearch, value: string | undefined): void => onChange(withParam(search, name, value));
  return (
    <>
      <FilterBar label={words.label}>
        <SearchField
          label={words.search}
          placeholder={words.searchExample}
          value={search.q}
          onChange={(value) => set('q', value)}
        />
        <SelectFilter
          label={words.status}
          any={words.anyStatus}
          value={search.status}
          options={STATUS_OPTIONS}
          onChange={(value) => set('status', value)}
        />
        <SelectFilter
          label={words.role}
          any={words.anyRole}
          value={search.role}
          options={roles.map((name) => ({ value: name, label: name }))}
          onChange={(value) => set('role', value)}
        />
        <SelectFilter
          label={words.kind}
          any={words.anyKind}
          value={KIND_OPTIONS.find(({ value }) => value === search.kind)?.value}
          options={KIND_OPTIONS}
          onChange={(value) => set('kind', value)}
        />
        <TextFilter label={words.user} value={search.user} onChange={(value) => set('user', value)} />
        <TextFilter
          label={words.metadata}
          placeholder={words.metadataExample}
          faultOf={(text) => (memberOf(text) === null ? words.metadataFault : null)}
          value={search.metadata}
          onChange={(value) => set('metadata', value)}
        />
        <SelectFilter
          label={words.range}
          any={words.anyTime}
          value={range}
          options={RANGES.map((value) => ({ value, label: words.ranges[value] }))}
          onChange={(value) => {
            const { from: _from, to: _to, range: _range, ...rest } = search;
            onChange(value === undefined ? rest : { ...rest, range: value });
          }}
        />
        <SelectFilter
          label={words.order}
          any={words.orders.created}
          value={sortOf(search.sort)}
          options={SORTS.filter((sort) => sort !== 'created').map((value) => ({ value, label: words.orders[value] }))}
          onChange={(value) => set('sort', value)}
        />
        {range === 'custom' && (
          <>
            <DayFilter label={words.from} value={search.from} onChange={(day) => set('from', day)} />
            <DayFilter label={words.until} value={search.to} onChange={(day) => set('to', day)} />
          </>
        )}
      </FilterBar>
      <FilterChips
        chips={OF.filter(({ name }) => search[name] !== undefined).map(({ name, show }) => ({
          label: show(names[name]),
          onRemove: () => set(name, undefined),
        }))}
      />
    </>
  );
}
