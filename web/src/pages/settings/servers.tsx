import { Plug } from 'lucide-react';
import type { McpServerInfo } from 'nightshift/client';
import { Badge, type Tone } from '../../ui/text/badge.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { Empty } from '../../ui/layout/empty.tsx';
import { OfSystem } from './of-system.tsx';
import listCss from '../../ui/list.module.css';
import css from './settings.module.css';
import { ToolList } from './tools.tsx';
import { settingsWords } from '../../words.ts';
import { Sentence } from '../../ui/text/sentence.tsx';

const words = settingsWords.servers;

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
            {servers.map(({ name, state, tools, restarts, calls }) => (
              <Card
                key={name}
                title={name}
                actions={
                  <Badge tone={TONES[state]} dot="still">
                    {words.states[state]}
                  </Badge>
                }
                flush
              >
                {restarts !== null && calls !== null && <p className={css.padded}>{words.figures(restarts, calls)}</p>}
                {tools === null ? <p className={css.padded}>{words.toolsUnknown}</p> : <ToolList tools={tools} />}
              </Card>
            ))}
          </div>
        )
      }
    </OfSystem>
  );
}
