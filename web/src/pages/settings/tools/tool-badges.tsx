/** Where a tool comes from, what a second call of it does, and whether it needs approval. */
import type { Tool } from 'nightshift/client';
import { Badge } from '../../../ui/text/badge.tsx';
import { toolCatalogueWords as words } from '../../../words.ts';

export function ToolBadges({ tool }: { tool: Pick<Tool, 'source' | 'effect' | 'approval' | 'served'> }) {
  const { source, effect, approval, served } = tool;
  return (
    <>
      <Badge>{words.sources[source]}</Badge>
      {effect !== null && <Badge tone={effect === 'once' ? 'amber' : 'neutral'}>{words.effects[effect]}</Badge>}
      {approval !== null && approval !== 'never' && (
        <Badge tone={approval === 'deny' ? 'red' : 'accent'}>{words.approvals[approval]}</Badge>
      )}
      {!served && source !== 'sent' && <Badge tone="red">{words.unsupported}</Badge>}
    </>
  );
}
