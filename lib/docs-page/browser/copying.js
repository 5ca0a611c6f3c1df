import { all, language } from './dom.js';

/** Lets a button copy the block around it, of the samples the selected one. */
export const setUpCopyButton = (button) => {
  button.hidden = false;
  button.addEventListener('click', async () => {
    const block = button.closest('figure, .samples');
    const code = all('pre', block).find((sample) => sample.checkVisibility());
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = language === 'fa' ? 'رونوشت شد' : 'Copied';
  });
};
