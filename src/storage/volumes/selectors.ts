import {
  everything,
  formatLabelSelector,
  labelSelectorOf,
  type LabelSelector,
  type LabelSelectorObject,
  parseLabelSelector,
  SelectorError,
} from '../../api/selectors/label-selector.ts';

/** A selector that a person wrote, read once. `text` is the same for selectors that mean the same. */
export type WrittenSelector =
  | { readonly type: 'valid'; readonly selector: LabelSelector; readonly text: string }
  /** Nobody can say what it means: it selects nothing, and its author is told. */
  | { readonly type: 'invalid'; readonly text: string; readonly problem: string };

const anything: WrittenSelector = { type: 'valid', selector: everything, text: '' };

/** A claim's spec.selector: which volumes will do. */
export function selectorOfVolumes(written: LabelSelectorObject | undefined): WrittenSelector {
  return written === undefined ? anything : read(JSON.stringify(written), () => labelSelectorOf(written));
}

/** A volume's claim selector: which claims may take it. */
export function selectorOfClaims(written: string | undefined): WrittenSelector {
  return written === undefined ? anything : read(written, () => parseLabelSelector(written));
}

function read(text: string, parse: () => LabelSelector): WrittenSelector {
  try {
    const selector = parse();
    return { type: 'valid', selector, text: formatLabelSelector(selector) };
  } catch (error) {
    if (error instanceof SelectorError) return { type: 'invalid', text: `invalid: ${text}`, problem: error.message };
    throw error;
  }
}
