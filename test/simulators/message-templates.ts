/** A template that both simulated SMS providers have approved. */
interface ApprovedTemplate {
  /** Its name at Kavenegar. */
  readonly name: string;
  /** Its number at SMS.ir. */
  readonly id: number;
}

/** The templates of the stage by language. */
export const STAGE_TEMPLATES = {
  fa: { name: 'sign-in-code', id: 100_001 },
  en: { name: 'sign-in-code-en', id: 100_002 },
} as const satisfies Record<string, ApprovedTemplate>;

/** Every approved template: those of the stage, and two that a seller may choose for its own messages. */
export const APPROVED_TEMPLATES: readonly ApprovedTemplate[] = [
  ...Object.values(STAGE_TEMPLATES),
  { name: 'kaveh-books', id: 200_001 },
  { name: 'kaveh-books-en', id: 200_002 },
];
