import { useScopes } from '../../../data/query/session.ts';
import { withParam } from '../../../data/search-params.ts';
import { DayFilter, FilterBar, SelectFilter } from '../../../ui/forms/filters.tsx';
import { TextFilter } from '../../../ui/forms/text-filter.tsx';
import { actionOptions, type AuditSearch } from './filter.ts';

export function AuditFilters({ search, onChange }: { search: AuditSearch; onChange: (search: AuditSearch) => void }) {
  const { actor, action, target, from, to } = search;
  const actions = actionOptions(useScopes());
  const set = (name: keyof AuditSearch, value: string | undefined): void => onChange(withParam(search, name, value));
  return (
    <FilterBar label="Filter the audit log">
      <TextFilter
        label="Actor"
        placeholder="id of a key, or a user"
        value={actor}
        onChange={(value) => set('actor', value)}
      />
      <SelectFilter
        label="Action"
        any="Any action"
        value={actions.find(({ value }) => value === action)?.value}
        options={actions}
        onChange={(value) => set('action', value)}
      />
      <TextFilter label="Target" placeholder="id or name" value={target} onChange={(value) => set('target', value)} />
      <DayFilter label="From" value={from} onChange={(value) => set('from', value)} />
      <DayFilter label="Until" value={to} onChange={(value) => set('to', value)} />
    </FilterBar>
  );
}
