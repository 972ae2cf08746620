import { useContextName, useWorkerName } from '../../data/names.ts';
import { useRoleNames } from '../../data/query/workers.ts';
import { withParam } from '../../data/search-params.ts';
import { DayFilter, FilterBar, FilterChips, SelectFilter } from '../../ui/forms/filters.tsx';
import { commonWords, searchWords } from '../../words.ts';

export type SearchSearch = {
  q?: string;
  message_role?: string;
  role?: string;
  context_id?: string;
  worker_id?: string;
  from?: string;
  to?: string;
};

const words = searchWords.filters;

export const AUTHORS = (['user', 'assistant'] as const).map((value) => ({ value, label: words.messages[value] }));

export function SearchFilters({
  search,
  onChange,
}: {
  search: SearchSearch;
  onChange: (search: SearchSearch) => void;
}) {
  const roles = useRoleNames(search.role);
  const set = (name: keyof SearchSearch, value: string | undefined): void => onChange(withParam(search, name, value));
  const labels = {
    context_id: searchWords.context(useContextName(search.context_id)),
    worker_id: searchWords.worker(useWorkerName(search.worker_id)),
  };
  const of = (['context_id', 'worker_id'] as const)
    .filter((name) => search[name] !== undefined)
    .map((name) => ({ label: labels[name], onRemove: () => set(name, undefined) }));
  return (
    <>
      <FilterBar label={words.label}>
        <SelectFilter
          label={words.messageType}
          any={words.anyMessage}
          value={AUTHORS.find(({ value }) => value === search.message_role)?.value}
          options={AUTHORS}
          onChange={(value) => set('message_role', value)}
        />
        <SelectFilter
          label={words.role}
          any={words.anyRole}
          value={search.role}
          options={roles.map((name) => ({ value: name, label: name }))}
          onChange={(value) => set('role', value)}
        />
        <DayFilter label={commonWords.from} value={search.from} onChange={(day) => set('from', day)} />
        <DayFilter label={commonWords.until} value={search.to} onChange={(day) => set('to', day)} />
      </FilterBar>
      <FilterChips chips={of} />
    </>
  );
}
