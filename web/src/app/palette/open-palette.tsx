/** The command palette, whose code is loaded when it is first opened: by Ctrl+K, or ⌘K on a Mac, also from a field. */
import { Suspense, lazy, useEffect } from 'react';
import { hidePalette, isPaletteShown, showPalette, usePaletteShown } from './shown.ts';

const Palette = lazy(() => import('./palette.tsx').then(({ Palette: component }) => ({ default: component })));

export function OpenPalette() {
  const isShown = usePaletteShown();
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (!isPaletteKey(event)) return;
      // Other dialogs keep what was typed into them, so the palette does not open above one.
      const isOther =
        document.querySelector('[role="dialog"]:not([data-state="closed"])') !== null && !isPaletteShown();
      event.preventDefault();
      if (isPaletteShown()) hidePalette();
      else if (!isOther) showPalette();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  return isShown ? (
    <Suspense fallback={null}>
      <Palette onClose={hidePalette} />
    </Suspense>
  ) : null;
}

function isPaletteKey({ key, ctrlKey, metaKey, altKey, shiftKey, repeat }: KeyboardEvent): boolean {
  return key.toLowerCase() === 'k' && ctrlKey !== metaKey && !altKey && !shiftKey && !repeat;
}
