/** Copies commands for a shell: to read the job, and to run it once more. */
import { useQueryClient } from '@tanstack/react-query';
import { SquareTerminal } from 'lucide-react';
import type { Job } from 'nightshift/client';
import { messageQuery } from '../../../data/query/contexts.ts';
import { useSession } from '../../../data/query/session.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { Menu, MenuItem } from '../../../ui/layout/menu.tsx';
import { showError, showFailure, showNotice } from '../../../ui/layout/toaster.tsx';
import { copyText } from '../../../ui/text/copy-text.ts';
import { jobWords } from '../../../words.ts';
import { curlOfInput, curlOfRead, curlOfRetry, type CurlTarget } from './curl.ts';

const words = jobWords.actions;

export function CopyMenu({ job }: { job: Job }) {
  const cache = useQueryClient();
  const target: CurlTarget = { origin: globalThis.location.origin, needsKey: useSession()?.auth !== 'none' };
  const copy = async (read: () => string | Promise<string>): Promise<void> => {
    try {
      const isCopied = await copyText(read());
      if (isCopied) showNotice(target.needsKey ? words.curlNeedsKey : words.curlCopied);
      else showFailure(words.curlFailed, globalThis.isSecureContext ? words.copyRefused : words.copyNeedsTls);
    } catch (error) {
      showError(words.curlFailed, error);
    }
  };
  const readInput = async (messageId: string): Promise<string> => {
    const { content } = await cache.ensureQueryData(messageQuery(job.context_id, messageId));
    return curlOfInput(target, job, content);
  };
  const { input } = job;
  return (
    <Menu
      trigger={
        <Button>
          <SquareTerminal aria-hidden="true" /> {words.curl}
        </Button>
      }
    >
      <MenuItem onSelect={() => void copy(() => curlOfRead(target, job))}>{words.curlOf.read}</MenuItem>
      {input !== null && (
        <MenuItem onSelect={() => void copy(() => readInput(input.message_id))}>{words.curlOf.input}</MenuItem>
      )}
      {job.kind === 'retry' && (
        <MenuItem onSelect={() => void copy(() => curlOfRetry(target, job))}>{words.curlOf.retry}</MenuItem>
      )}
    </Menu>
  );
}
