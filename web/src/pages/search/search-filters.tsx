import { shortId } from '../../data/format.ts';
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
  const of = (['context_id', 'worker_id'] as const).flatMap((name) => {
    const id = search[name];
    const what = name === 'context_id' ? 'Context' : 'Worker';
    return id === undefined ? [] : [{ label: `${what} ${shortId(id)}`, onRemove: () => set(name, undefined) }];
  });
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
