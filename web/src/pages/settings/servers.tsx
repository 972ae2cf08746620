import { Plug } from 'lucide-react';
import type { McpServerInfo } from 'nightshift/client';
import { Badge, type Tone } from '../../ui/text/badge.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { Empty } from '../../ui/layout/empty.tsx';
import { OfSystem } from './of-system.tsx';
import listCss from '../../ui/list.module.css';
import css from './settings.module.css';
import { ToolList } from './tools.tsx';

const STATES: Readonly<Record<McpServerInfo['state'], { label: string; tone: Tone }>> = {
  up: { label: 'Up', tone: 'green' },
  down: { label: 'Down', tone: 'red' },
  unknown: { label: 'Unknown', tone: 'neutral' },
};

export function ServersTab() {
  return (
    <OfSystem>
      {({ mcp_servers: servers }) =>
        servers.length === 0 ? (
          <Empty icon={<Plug aria-hidden="true" />} title="No MCP servers">
            Configure them as <code>mcp_servers</code> in <code>nightshift.config.ts</code>.
          </Empty>
        ) : (
          <div className={listCss.stack}>
            {servers.map(({ name, state, tools }) => (
              <Card
                key={name}
                title={name}
                actions={
                  <Badge tone={STATES[state].tone} dot="still">
                    {STATES[state].label}
                  </Badge>
                }
                flush
              >
                {tools === null ? (
                  <p className={css.padded}>The tools are listed after the first connection.</p>
                ) : (
                  <ToolList tools={tools} />
                )}
              </Card>
            ))}
          </div>
        )
      }
    </OfSystem>
  );
}
