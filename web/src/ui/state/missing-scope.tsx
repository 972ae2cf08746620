import { Lock } from 'lucide-react';
import { Empty } from '../layout/empty.tsx';
import { uiWords } from '../../words.ts';
import { Sentence } from '../text/sentence.tsx';

/** In place of what this session does not allow. */
export function MissingScope({ scope }: { scope: string }) {
  return (
    <Empty icon={<Lock aria-hidden="true" />} title={uiWords.missingScope.title(scope)}>
      {scope === 'operator' ? (
        <Sentence text={uiWords.missingScope.ofOperator} gaps={{ variable: <code>NIGHTSHIFT_ADMIN_KEY</code> }} />
      ) : (
        <Sentence text={uiWords.missingScope.ofTenant} gaps={{ scope: <code>{scope}</code> }} />
      )}
    </Empty>
  );
}
