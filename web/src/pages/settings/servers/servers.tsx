import { Plug } from 'lucide-react';
import type { McpServerInfo } from 'nightshift/client';
import { Badge, type Tone } from '../../../ui/text/badge.tsx';
import { Card } from '../../../ui/layout/card.tsx';
import { Empty } from '../../../ui/layout/empty.tsx';
import { OfSystem } from '../of-system.tsx';
import listCss from '../../../ui/list.module.css';
import css from '../settings.module.css';
import healthCss from './server-health.module.css';
import { ServerHealth } from './server-health.tsx';
import { ToolList } from '../tools/tool-list.tsx';
import { mcpServerWords as words } from '../../../words.ts';
import { Sentence } from '../../../ui/text/sentence.tsx';

const TONES: Readonly<Record<McpServerInfo['state'], Tone>> = { up: 'green', down: 'red', unknown: 'neutral' };

export function ServersTab() {
  return (
    <OfSystem>
      {({ mcp_servers: servers }) =>
        servers.length === 0 ? (
          <Empty icon={<Plug aria-hidden="true" />} title={words.none}>
            <Sentence
              text={words.noneAbout}
              gaps={{ setting: <code>mcp_servers</code>, file: <code>nightshift.config.ts</code> }}
            />
          </Empty>
        ) : (
          <div className={listCss.stack}>
            {servers.map((server) => (
              <ServerCard key={server.name} server={server} />
            ))}
          </div>
        )
      }
    </OfSystem>
  );
}

function ServerCard({ server }: { server: McpServerInfo }) {
  const { name, state, scope, tools } = server;
  return (
    <Card
      title={name}
      actions={
        <>
          {scope !== null && scope !== 'shared' && <Badge>{words.scopes[scope]}</Badge>}
          <Badge tone={TONES[state]} dot="still">
            {words.states[state]}
          </Badge>
        </>
      }
      flush
    >
      <ServerHealth server={server} />
      {tools === null ? (
        <p className={css.padded}>{words.toolsUnknown[scope ?? 'unknown']}</p>
      ) : (
        <div className={healthCss.tools}>
          <ToolList tools={tools} />
        </div>
      )}
    </Card>
  );
}
