import io.xlate.edi.stream.EDIInputFactory;
import io.xlate.edi.stream.EDIStreamReader;
import java.io.FileInputStream;

/** Reads an X12 file by staedi, which checks the structure and counts of its envelopes; ends with 1 at the first fault. */
class ReadX12 {
  public static void main(String[] paths) throws Exception {
    for (String path : paths)
      try (FileInputStream stream = new FileInputStream(path)) {
        EDIStreamReader reader = EDIInputFactory.newFactory().createEDIStreamReader(stream);
        long people = 0;
        while (reader.hasNext())
          switch (reader.next()) {
            case START_SEGMENT -> people += reader.getText().equals("INS") ? 1 : 0;
            case SEGMENT_ERROR, ELEMENT_DATA_ERROR, ELEMENT_OCCURRENCE_ERROR -> {
              System.out.println(path + ": " + reader.getErrorType() + " at " + reader.getLocation());
              System.exit(1);
            }
            default -> {}
          }
        System.out.println("staedi reads " + people + " people of " + path.replaceAll(".*/", ""));
      }
  }
}
