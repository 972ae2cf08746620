import { useContextName, useWorkerName } from '../../data/names.ts';
import { useRoleNames } from '../../data/query/workers.ts';
import { withParam } from '../../data/search-params.ts';
import { DayFilter, FilterBar, FilterChips, SelectFilter } from '../../ui/forms/filters.tsx';

export type SearchSearch = {
  q?: string;
  message_role?: string;
  role?: string;
  context_id?: string;
  worker_id?: string;
  from?: string;
  to?: string;
};

export const AUTHORS = [
  { value: 'user', label: 'Inputs' },
  { value: 'assistant', label: 'Answers' },
] as const;

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
    context_id: `Context ${useContextName(search.context_id)}`,
    worker_id: `Worker ${useWorkerName(search.worker_id)}`,
  };
  const of = (['context_id', 'worker_id'] as const)
    .filter((name) => search[name] !== undefined)
    .map((name) => ({ label: labels[name], onRemove: () => set(name, undefined) }));
  return (
    <>
      <FilterBar label="Filter results">
        <SelectFilter
          label="Message type"
          any="Inputs and answers"
          value={AUTHORS.find(({ value }) => value === search.message_role)?.value}
          options={AUTHORS}
          onChange={(value) => set('message_role', value)}
        />
        <SelectFilter
          label="Worker role"
          any="Any role"
          value={search.role}
          options={roles.map((name) => ({ value: name, label: name }))}
          onChange={(value) => set('role', value)}
        />
        <DayFilter label="From" value={search.from} onChange={(day) => set('from', day)} />
        <DayFilter label="Until" value={search.to} onChange={(day) => set('to', day)} />
      </FilterBar>
      <FilterChips chips={of} />
    </>
  );
}
