/** The command palette, whose code is loaded when it is first opened: by Ctrl+K, or ⌘K on a Mac, also from a field. */
import { useEffect, useState, type ComponentType } from 'react';
import { showError } from '../../ui/layout/toaster.tsx';
import { paletteWords } from '../../words.ts';
import { hidePalette, isPaletteShown, showPalette, usePaletteShown } from './shown.ts';

type Loaded = ComponentType<{ onClose: () => void }>;

export function OpenPalette() {
  const isShown = usePaletteShown();
  const [Palette, setPalette] = useState<Loaded | null>(null);
  useEffect(() => {
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  useEffect(() => {
    if (!isShown || Palette !== null) return;
    // It fails after a new version was deployed, and without a connection. The page stays as it is.
    import('./palette.tsx').then(
      (loaded) => setPalette(() => loaded.Palette),
      (error: unknown) => {
        hidePalette();
        showError(paletteWords.loadFailed, error);
      },
    );
  }, [isShown, Palette]);
  return isShown && Palette !== null ? <Palette onClose={hidePalette} /> : null;
}

function press(event: KeyboardEvent): void {
  if (!isPaletteKey(event)) return;
  event.preventDefault();
  if (isPaletteShown()) return hidePalette();
  // Other dialogs keep what was typed into them, so the palette does not open above one.
  if (document.querySelector('[role="dialog"]:not([data-state="closed"])') === null) showPalette();
}

function isPaletteKey({ key, ctrlKey, metaKey, altKey, shiftKey, repeat }: KeyboardEvent): boolean {
  return key.toLowerCase() === 'k' && ctrlKey !== metaKey && !altKey && !shiftKey && !repeat;
}
