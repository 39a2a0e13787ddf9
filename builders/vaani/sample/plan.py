"""What the sample holds: clips, who speaks them, what is written of them, and the defect that is planted in each."""

from __future__ import annotations

from dataclasses import dataclass, field

_VOICES = {"hi": "Hindi", "bn": "Bengali", "ta": "Tamil", "te": "Telugu", "mr": "Marathi", "kn": "Kannada",
           "ml": "Malayalam", "gu": "Gujarati"}  # fmt: skip
_PLACES = {
    "hi": ("UttarPradesh", "Varanasi", "221001"),
    "bn": ("WestBengal", "Kolkata", "700001"),
    "ta": ("TamilNadu", "Chennai", "600001"),
    "te": ("Telangana", "Hyderabad", "500001"),
    "mr": ("Maharashtra", "Pune", "411001"),
    "kn": ("KA", "DakshinKannada", "575001"),
    "ml": ("Kerala", "Kozhikode", "673001"),
    "gu": ("Gujarat", "Surat", "395003"),
}


@dataclass(frozen=True)
class Clip:
    """A clip.

    Attributes:
        key: its record number in the file name; unique.
        voice: espeak-ng's, with a variant; its first two letters are the language.
        spoken: what is said; `written` is the transcript, the same unless given.
        defect: what is planted in the sound or the file; empty: nothing.
        says: columns that differ from what is usual (`given` overrides).
        copy_of: key of the clip whose sound it is.
    """

    key: str
    voice: str
    speaker: str
    spoken: str
    written: str | None = None
    image: str = "IMG01"
    form: str = "flac"
    defect: str = ""
    copy_of: str = ""
    speed: int = 165
    pitch: int = 50
    says: dict[str, str] = field(default_factory=dict)

    @property
    def language(self) -> str:
        """The language's label."""
        return _VOICES[self.voice[:2]]

    def columns(self, seconds: float) -> dict[str, str]:
        """The line of the table, for a sound of that length."""
        state, district, pincode = _PLACES[self.voice[:2]]
        key = "1001" if self.defect == "again" else self.key
        start = 100 + int(key)
        end = start + round(seconds * 1000) + (700 if self.defect == "wrong_length" else 0)
        vendor = "S" if self.speaker.isdecimal() else "M"
        extension = "wav" if self.defect == "wrong_extension" else self.form
        session = f"50{self.speaker[-4:]}"
        name = (
            f"IISc_VaaniProject_{vendor}_{state}_{district}_{self.speaker}_{session}_{self.image}_{key}_{start}_{end}"
        )
        written = self.spoken if self.written is None else self.written
        return {
            "file": f"audio/{name}.{extension}",
            "language": self.language,
            "languagesKnown": f"{self.language}, English",
            "gender": "Female" if "f" in self.voice[2:] else "Male",
            "state": state,
            "district": district,
            "pincode": pincode,
            "isTranscriptionAvailable": "Yes" if written else "No",
            "transcript": written,
            "referenceImage": self.image,
            "transcriber": f"T{int(self.key) % 3}",
            **self.says,
        }


_FIRST = ("hi", "bn", "ta", "te", "mr", "kn", "ml", "gu")
_GOOD = {
    "hi": ("इस तस्वीर में एक बड़ा पेड़ है।", "लोग बाज़ार में ताज़ी सब्ज़ी खरीद रहे हैं।"),
    "bn": ("এই ছবিতে একটি বড় গাছ আছে।", "মানুষ বাজারে টাটকা সবজি কিনছে।"),
    "ta": ("இந்த படத்தில் ஒரு பெரிய மரம் இருக்கிறது.", "மக்கள் சந்தையில் காய்கறி வாங்குகிறார்கள்."),
    "te": ("ఈ చిత్రంలో ఒక పెద్ద చెట్టు ఉంది.", "ప్రజలు బజారులో కూరగాయలు కొంటున్నారు."),
    "mr": ("या चित्रात एक मोठे झाड आहे.", "लोक बाजारात ताजी भाजी घेत आहेत."),
    "kn": ("ಈ ಚಿತ್ರದಲ್ಲಿ ಒಂದು ದೊಡ್ಡ ಮರ ಇದೆ.", "ಜನರು ಸಂತೆಯಲ್ಲಿ ತರಕಾರಿ ಕೊಳ್ಳುತ್ತಿದ್ದಾರೆ."),
    "ml": ("ഈ ചിത്രത്തിൽ ഒരു വലിയ മരം ഉണ്ട്.", "ആളുകൾ ചന്തയിൽ പച്ചക്കറി വാങ്ങുന്നു."),
    "gu": ("આ ચિત્રમાં એક મોટું ઝાડ છે.", "લોકો બજારમાં તાજી શાકભાજી ખરીદે છે."),
}


def _good() -> list[Clip]:
    """Two speakers a language, a sentence each; in Kannada, vendor M, whose names hold letters."""
    clips = []
    for number, voice in enumerate(_FIRST):
        for which, variant in enumerate(("", "+f3")):
            speaker = f"{1000 + 20 * number + which}"
            speaker = f"abcd{speaker}" if voice == "kn" else speaker
            image = f"IMG0{1 + (number + which) % 4}"
            key = str(1001 + 2 * number + which)
            form = "mp3" if which and voice != "kn" else "flac"
            said = _GOOD[voice][which]
            clips.append(Clip(key, voice + variant, speaker, said, image=image, form=form, pitch=40 + 5 * number))
    return clips


def _hindi(key: int, spoken: str, **more: object) -> Clip:
    return Clip(str(key), "hi+m3", str(3000 + key), spoken, image="IMG02", **more)  # pyright: ignore[reportArgumentType]


_SOUND = [
    _hindi(1101, "मैदान में बच्चे खेल रहे हैं।", defect="short", written=""),
    _hindi(1102, "नदी के किनारे नाव है।", defect="little_speech", written="", form="mp3"),
    _hindi(1103, "छत पर कबूतर बैठे हैं।", defect="silence", form="mp3"),
    _hindi(1104, "एक औरत पानी भर रही है।", defect="soft", form="mp3"),
    _hindi(1105, "गाय घास खा रही है।", defect="clipped"),
    _hindi(1106, "सड़क पर बहुत गाड़ियाँ हैं।", defect="clipped_then_softer"),
    _hindi(1107, "दुकान के बाहर भीड़ है।", defect="offset"),
    _hindi(1108, "मंदिर के पास फूल बिकते हैं।", defect="some_offset"),
    _hindi(1109, "खेत में किसान काम कर रहा है।", defect="dropouts"),
    _hindi(1110, "पहाड़ों पर बर्फ़ गिरी है।", defect="noise"),
    _hindi(1111, "आसमान में काले बादल हैं।", defect="narrow"),
    _hindi(1112, "दीवार पर रंगीन चित्र बने हैं।", defect="wrong_length", form="mp3"),
    _hindi(1113, "पुल के नीचे रेल जा रही है।", defect="wrong_extension", form="opus"),
    _hindi(1114, "बस में लोग बैठे हैं।", defect="cut", form="wav"),
]

_COPIES = [
    Clip("1201", "hi", "4001", "", copy_of="1001", form="wav", image="IMG03"),
    Clip("1202", "hi", "4002", "", copy_of="1001", form="mp3", image="IMG03"),
    Clip("1203", "hi", "4003", "", copy_of="1001", form="opus", image="IMG03"),
    Clip("1204", "hi", "4004", "", copy_of="1001", defect="reverberated", image="IMG03"),
]

_FILES = [
    _hindi(1301, "यह फ़ाइल नहीं है।", defect="missing"),
    _hindi(1302, "यह फ़ाइल खाली है।", defect="empty"),
    _hindi(1303, "यह आवाज़ नहीं है।", defect="text"),
    _hindi(1304, "यह पंक्ति लंबी है।", defect="ragged", form="mp3"),
    Clip("1305", "hi", "1000", _GOOD["hi"][0], copy_of="1001", defect="again", image="IMG01"),
    _hindi(1306, "पेड़ पर पीले आम लगे हैं।", defect="tags", form="mp3"),
]

_TEXT = [
    _hindi(1401, "वहाँ एक लाल मोटर खड़ी है।", written="वहाँ एक लाल मोटर {car खड़ी है। </noise>", form="mp3"),
    _hindi(1402, "हाइड्रोलिक मशीन चल रही है।", form="mp3",
           written="हाइड्रोलिक [hydrolic} मशीन {machine} चल रही है <Whirr>।"),
    _hindi(1403, "फूल बहुत सुंदर हैं।", written="<Pause> फूल बहुत सुंदर हैं |", form="mp3"),
    _hindi(1404, "घर के आगे आँगन है।", written="ghar ke aage aangan hai", form="mp3"),
    _hindi(1405, "नीली शर्ट वाला लड़का।", written="नीली shirt वाला लड़का।", form="mp3"),
    _hindi(1406, "कुआँ बहुत गहरा है।", written="कुआঁ बहुत\u200b गहरा है।", form="mp3"),
    Clip("1407", "mr", "4407", "some boys are playing near the river.", form="mp3", image="IMG04",
         says={"language": "Konkani"}),
    _hindi(1408, "हाँ जी।", form="mp3",
           written="पहाड़ की तलहटी में बसे छोटे से गाँव के लोग हर सुबह जंगल से लकड़ी बीनकर लाते हैं।"),
    _hindi(1409, "यहाँ शोर बहुत है भाई।", written="<noise> [unintelligible] </noise>", form="mp3"),
    _hindi(1410, "मेरा आधार नंबर यह है।", written="मेरा आधार नंबर २३४१ २३४१ २३४६ यह है।", form="mp3"),
    _hindi(1411, "गिनती के अंक ये रहे।", written="गिनती के अंक २००९ २०१० २०११ ये रहे।", form="mp3"),
    Clip("1412", "hi+m3", "4412", "यहाँ एक तालाब है।", form="mp3", image="IMG03"),
    Clip("1413", "hi+m3", "4412", "यहाँ एक तालाब है।", form="mp3", image="IMG03", pitch=60),
]  # fmt: skip

_LABELS = [
    _hindi(1501, "खिड़की खुली हुई है।", form="mp3", says={"language": "Hindustanee"}),
    _hindi(1502, "बिल्ली दूध पी रही है।", form="mp3", says={"gender": "unknown"}),
    _hindi(1503, "टोकरी में आम रखे हैं।", form="mp3", says={"state": "Kerala", "pincode": ""}),
    _hindi(1504, "चिड़िया उड़ रही है।", form="mp3", says={"pincode": "022101"}),
    _hindi(1505, "कुर्सी टूटी हुई है।", form="mp3", written="", says={"isTranscriptionAvailable": "Yes"}),
    _hindi(1506, "मेज़ पर किताब है।", form="mp3", says={"referenceImage": "IMG99"}),
]

CLIPS = [*_good(), *_SOUND, *_COPIES, *_FILES, *_TEXT, *_LABELS]

PICTURES = {"IMG01": "", "IMG02": "", "IMG03": "", "IMG04": "place", "IMG05": "copy", "IMG06": "truncated",
            "IMG07": "words"}  # fmt: skip
"""Image id -> planted defect; the copy is of the first."""
