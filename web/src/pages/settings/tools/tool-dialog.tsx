/** A tool: what it is, what it takes, who has it, and what the tenant used of it. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Tool, ToolUse } from 'nightshift/client';
import { rolesQuery } from '../../../data/query/workers.ts';
import { Dialog } from '../../../ui/layout/dialog.tsx';
import { Json } from '../../../ui/text/json.tsx';
import { Sentence } from '../../../ui/text/sentence.tsx';
import { formatDuration } from '../../../ui/text/time.tsx';
import { toolCatalogueWords } from '../../../words.ts';
import { InputTree } from './input-tree.tsx';
import { ToolBadges } from './tool-badges.tsx';
import { UseOfTool } from './use-of-tool.tsx';
import settingsCss from '../settings.module.css';
import css from './tools.module.css';

const words = toolCatalogueWords.tool;

type Props = { tool: Tool; use: ToolUse | null; hours: string; mayRead: boolean; onClose: () => void };

export function ToolDialog({ tool, use, hours, mayRead, onClose }: Props) {
  return (
    <Dialog open wide title={tool.name} onClose={onClose}>
      <div className={css.tool}>
        <div className={css.badges}>
          <ToolBadges tool={tool} />
        </div>
        {tool.description !== null && <p className={css.description}>{tool.description}</p>}
        <Facts tool={tool} mayRead={mayRead} />
        {mayRead && (
          <Part title={`${words.use} (${hours})`}>
            <UseOfTool use={use} />
          </Part>
        )}
        <Part title={words.input}>
          {tool.input_schema === null ? (
            <p className={settingsCss.about}>{words.noSchema}</p>
          ) : (
            <>
              <InputTree schema={tool.input_schema} />
              <details className={css.raw}>
                <summary>{words.raw}</summary>
                <Json value={tool.input_schema} label={words.raw} />
              </details>
            </>
          )}
        </Part>
        <Part title={words.output}>
          <p className={settingsCss.about}>{words.outputAbout}</p>
        </Part>
      </div>
    </Dialog>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={css.part} aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function Facts({ tool, mayRead }: { tool: Tool; mayRead: boolean }) {
  const { source, server, effect, approval, answered_by: answeredBy, timeout_ms: timeoutMs, processes } = tool;
  const facts: [string, ReactNode][] = [
    [
      words.kind,
      source === 'mcp' ? (
        <Sentence key="kind" text={toolCatalogueWords.sourcesAbout.mcp} gaps={{ server: <code>{server}</code> }} />
      ) : (
        toolCatalogueWords.sourcesAbout[source]
      ),
    ],
  ];
  if (source !== 'sent') {
    facts.push(
      [words.effect, effect === null ? words.unknown : toolCatalogueWords.effectsAbout[effect]],
      [
        words.approval,
        approval === null ? (
          words.unknown
        ) : (
          <Sentence
            key="approval"
            text={words.approvalAbout}
            gaps={{ approval: toolCatalogueWords.approvals[approval] }}
          />
        ),
      ],
    );
    if (answeredBy !== null) facts.push([words.answeredBy, toolCatalogueWords.answeredBy[answeredBy]]);
    if (timeoutMs !== null) facts.push([words.timeout, formatDuration(timeoutMs)]);
  }
  if (processes !== null) facts.push([words.processes, words.processesOf(processes)]);
  return (
    <dl className={settingsCss.facts} aria-label={words.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
      {mayRead && <RolesWith tool={tool} />}
    </dl>
  );
}

/** Roles that name the tool, or its MCP server. */
function RolesWith({ tool: { name, server } }: { tool: Tool }) {
  const roles = useQuery(rolesQuery()).data;
  if (roles === undefined) return null;
  const having = roles.filter(
    ({ tools, mcp_servers: servers }) =>
      tools?.includes(name) === true || (server !== null && servers?.includes(server) === true),
  );
  return (
    <div>
      <dt>{words.roles}</dt>
      <dd>{having.length === 0 ? words.noRoles : having.map((role) => role.name).join(', ')}</dd>
    </div>
  );
}
