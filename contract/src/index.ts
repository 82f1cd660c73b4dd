export const contractVersion = '1.0.2'
