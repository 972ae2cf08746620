/** Creates a context from an export file, or from a folder in the legacy layout. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { FileJson, FolderOpen } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { folderBody, importFile } from '../../../../data/query/import-file.ts';
import { keys } from '../../../../data/query/keys.ts';
import { Button } from '../../../../ui/forms/button.tsx';
import { Dialog } from '../../../../ui/layout/dialog.tsx';
import { ErrorText } from '../../../../ui/state/error-text.tsx';
import { showNotice } from '../../../../ui/layout/toaster.tsx';
import { commonWords, contextMenuWords } from '../../../../words.ts';
import css from './context-menu.module.css';

const words = contextMenuWords.import;

const percent = new Intl.NumberFormat('en', { style: 'percent' });

export function ImportDialog({ onClose }: { onClose: () => void }) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const file = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const leaving = useRef(new AbortController());
  const [share, setShare] = useState(0);
  // Closing the dialog cancels the import.
  useEffect(() => {
    const left = new AbortController();
    leaving.current = left;
    return () => left.abort();
  }, []);
  const take = useMutation({
    mutationFn: async (files: readonly File[]) => {
      setShare(0);
      const [only] = files;
      const body = files.length === 1 && only !== undefined ? only : await folderBody(files);
      return importFile(body, { signal: leaving.current.signal, onProgress: setShare });
    },
    onSuccess: (context) => {
      showNotice(words.done);
      void cache.invalidateQueries({ queryKey: keys.contexts });
      onClose();
      return navigate({ to: '/contexts/$contextId', params: { contextId: context.id } });
    },
  });
  const choose = (input: HTMLInputElement): void => {
    const files = [...(input.files ?? [])];
    // Lets the user choose the same file again after fixing it.
    input.value = '';
    if (files.length > 0) take.mutate(files);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={words.title}
      description={words.about}
      actions={<Button onClick={onClose}>{take.isPending ? commonWords.cancel : commonWords.close}</Button>}
    >
      <input
        ref={file}
        className={css.hidden}
        type="file"
        accept=".json,application/json"
        tabIndex={-1}
        aria-label={words.file}
        onChange={({ target }) => choose(target)}
      />
      <input
        ref={folder}
        className={css.hidden}
        type="file"
        multiple
        tabIndex={-1}
        aria-label={words.folder}
        {...{ webkitdirectory: '' }}
        onChange={({ target }) => choose(target)}
      />
      <div className={css.pick}>
        <Button variant="primary" disabled={take.isPending} onClick={() => file.current?.click()}>
          <FileJson /> {words.chooseFile}
        </Button>
        <Button disabled={take.isPending} onClick={() => folder.current?.click()}>
          <FolderOpen /> {words.chooseFolder}
        </Button>
      </div>
      {take.isPending && (
        <div>
          <p aria-live="polite">{share < 1 ? words.uploading(percent.format(share)) : words.importing}</p>
          <progress
            className={css.progress}
            aria-label={words.progress}
            max={1}
            {...(share < 1 ? { value: share } : {})}
          />
        </div>
      )}
      {take.isError && (
        <div className={css.refused} role="alert">
          <p>{words.failed}</p>
          <ErrorText error={take.error} />
        </div>
      )}
    </Dialog>
  );
}
