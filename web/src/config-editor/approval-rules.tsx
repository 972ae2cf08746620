import { Plus, Trash2 } from 'lucide-react';
import type { ApprovalRule } from 'nightshift/client';
import { useTools } from '../data/names.ts';
import { Button, IconButton } from '../ui/forms/button.tsx';
import { TextField } from '../ui/forms/field.tsx';
import { Select } from '../ui/forms/select.tsx';
import css from './config-editor.module.css';
import type { EditedConfig } from './edited.ts';
import { configWords } from '../words.ts';

const words = configWords.rules;
const { label, hint } = configWords.fields.approval;

const DECISIONS = (['never', 'always', 'deny'] as const).map((value) => ({ value, label: words.decisions[value] }));

/** Edits the approval rules. The first rule that matches a tool applies. */
export function ApprovalRules({ edited: { draft, isReadOnly, onChange } }: { edited: EditedConfig }) {
  const rules = draft.approval ?? [];
  const tools = [...new Set([...useTools(draft.mcp_servers ?? []), ...(draft.tools ?? [])])];
  const set = (left: ApprovalRule[]): void => onChange({ approval: left.length === 0 ? null : left });
  const put = (at: number, rule: ApprovalRule): void => set(rules.with(at, rule));
  return (
    <fieldset className={css.list}>
      <legend>{label}</legend>
      <p className={css.hint}>{hint}</p>
      {rules.map((rule, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- a rule is identified by its position
        <div key={at} className={css.rule}>
          <TextField
            label={words.tool(at + 1)}
            hideLabel
            readOnly={isReadOnly}
            value={rule.tool}
            placeholder={words.toolExample}
            suggestions={tools}
            onChange={({ target }) => put(at, { ...rule, tool: target.value })}
          />
          <Select
            label={words.decision(at + 1)}
            disabled={isReadOnly}
            value={rule.decision}
            options={DECISIONS}
            onChange={(decision) => put(at, { ...rule, decision })}
          />
          {!isReadOnly && (
            <IconButton label={words.remove(at + 1)} size="small" onClick={() => set(rules.toSpliced(at, 1))}>
              <Trash2 />
            </IconButton>
          )}
        </div>
      ))}
      {!isReadOnly && (
        <Button size="small" onClick={() => set([...rules, { tool: '', decision: 'always' }])}>
          <Plus /> {words.add}
        </Button>
      )}
    </fieldset>
  );
}
